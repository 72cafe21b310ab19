#include "infermeter/verdict/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

double timed_s(const RunRecord& record) {
  double sum = 0;
  for (const Samples& trial : record.trials) sum += trial.wall_s;
  return sum;
}

// Rounds within a program are of one process: no number of them gives an interval, and the least will do.
bool is_of_a_program(const RunRecord& record) {
  return std::ranges::any_of(record.trials, [](const Samples& trial) { return !trial.host_process.empty(); });
}

// Decided by clocks alone, never by what was measured.
bool is_out_of_time(const RunRecord& record, int rounds) {
  if (rounds >= record.plan.processes) return true;
  if (!record.plan.budget_s || rounds < kLeastRounds) return false;
  const double spent_s = timed_s(record);
  return spent_s + spent_s / rounds > *record.plan.budget_s;
}

bool is_narrow(const Estimate& estimate, double precision) {
  if (!estimate.value) return true;  // no number of processes changes that
  return estimate.interval && estimate.interval->low > 0 &&
         std::log(estimate.interval->high / estimate.interval->low) <= 2 * std::log1p(precision);
}

bool is_alone(const Verdict& verdict, const SubjectVerdict& subject) {
  return !subject.baseline && std::ranges::none_of(verdict.subjects, [&](const SubjectVerdict& other) {
    return other.baseline == subject.subject;
  });
}

bool is_answered(const Verdict& verdict, const SubjectVerdict& subject, double precision) {
  if (subject.baseline) {
    const bool has_ratio = !subject.ratios.empty() && subject.ratios.front().estimate.value;
    return !has_ratio || subject.direction != Direction::unresolved;
  }
  const Metric* latency = subject.summary.metric("latency_p50");
  return !is_alone(verdict, subject) || latency == nullptr || is_narrow(latency->estimate, precision);
}

}  // namespace

int complete_rounds(const RunRecord& record) {
  std::vector<int> ended(record.plan.subjects.size(), 0);
  for (const Samples& trial : record.trials) {
    if (trial.subject >= 0 && static_cast<std::size_t>(trial.subject) < ended.size())
      ++ended[static_cast<std::size_t>(trial.subject)];
  }
  return ended.empty() ? 0 : std::ranges::min(ended);
}

double level_of_rounds(const RunRecord& record) {
  const double alpha = 1 - Coverage{}.confidence;
  if (!record.plan.automatic.processes) return alpha;
  const int rounds = complete_rounds(record);
  const bool ended = record.finished && (!is_round_look(rounds) || is_out_of_time(record, rounds));
  return round_level(rounds, alpha, ended);
}

int next_end(const RunRecord& record) {
  const Plan& plan = record.plan;
  if (!plan.automatic.processes) return plan.processes;
  const int done = complete_rounds(record);
  if (is_of_a_program(record)) return std::max(done, kLeastRounds);
  int next = done + 1;
  while (next < plan.processes && !is_round_look(next)) ++next;
  if (done == 0 || !plan.budget_s) return next;
  const double affordable = *plan.budget_s / (timed_s(record) / done);
  return std::max({done + 1, kLeastRounds, static_cast<int>(std::min<double>(next, affordable))});
}

bool has_enough_rounds(const RunRecord& record) {
  const int rounds = complete_rounds(record);
  if (!record.plan.automatic.processes || rounds < kLeastRounds) return false;
  if (is_out_of_time(record, rounds) || is_of_a_program(record)) return true;
  if (!is_round_look(rounds)) return false;
  const Verdict verdict = judge(record);
  return std::ranges::all_of(verdict.subjects, [&](const SubjectVerdict& subject) {
    return is_answered(verdict, subject, record.plan.precision);
  });
}

}  // namespace infermeter
