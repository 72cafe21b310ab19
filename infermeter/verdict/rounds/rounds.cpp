#include "infermeter/verdict/rounds/rounds.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"

namespace infermeter {

bool is_of_a_program(const RunRecord& record) {
  return std::ranges::any_of(record.trials, [](const Samples& trial) { return !trial.host_process.empty(); });
}

bool is_out_of_time(const RunRecord& record, int rounds) {
  if (rounds >= record.plan.processes) return true;
  if (!record.plan.budget_s || rounds < kLeastRounds) return false;
  const double spent_s = wall_s(record.trials);
  return spent_s + spent_s / rounds > *record.plan.budget_s;
}

double level_of_rounds(const RunRecord& record, std::size_t share) {
  const double alpha = (1 - Coverage{}.confidence) / static_cast<double>(share);
  if (!record.plan.automatic.processes) return alpha;
  const int rounds = complete_blocks(record);
  const bool ended = record.finished && (!is_round_look(rounds) || is_out_of_time(record, rounds));
  return round_level(rounds, alpha, ended);
}

int next_end(const RunRecord& record) {
  const Plan& plan = record.plan;
  if (!plan.automatic.processes) return plan.processes;
  const int done = complete_blocks(record);
  if (is_of_a_program(record)) return std::max(done, kLeastRounds);
  int next = done + 1;
  while (next < plan.processes && !is_round_look(next)) ++next;
  if (done == 0 || !plan.budget_s) return next;
  // Without the round that is under way, of which not all trials are there yet.
  const std::size_t ended = record.trials.size() / plan.subjects.size() * plan.subjects.size();
  const double affordable = *plan.budget_s / (wall_s(std::span(record.trials).first(ended)) / done);
  return std::max({done + 1, kLeastRounds, static_cast<int>(std::min<double>(next, affordable))});
}

}  // namespace infermeter
