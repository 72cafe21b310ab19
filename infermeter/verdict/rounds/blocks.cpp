#include "infermeter/verdict/rounds/blocks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "infermeter/text/counts.hpp"
#include "infermeter/verdict/rounds/disturbance.hpp"

namespace infermeter {
namespace {

bool is_set_aside(const std::vector<int>& set_aside, const Samples& trial) {
  return std::ranges::binary_search(set_aside, trial.process);
}

int complete_blocks_without(const RunRecord& record, const std::vector<int>& set_aside) {
  std::vector<int> ended(record.plan.subjects.size(), 0);
  for (const Samples& trial : record.trials) {
    if (trial.subject < 0 || static_cast<std::size_t>(trial.subject) >= ended.size()) continue;
    if (!is_set_aside(set_aside, trial)) ++ended[static_cast<std::size_t>(trial.subject)];
  }
  return ended.empty() ? 0 : std::ranges::min(ended);
}

// "other programs used up to 74 % of a processor, up to 3 % of the time was stolen"
std::string worst_of(const RunRecord& record, const std::vector<int>& set_aside) {
  double foreign = 0, steal = 0, throttled_s = 0;
  for (const Samples& trial : record.trials) {
    if (!is_set_aside(set_aside, trial) || !is_disturbed(trial.noise)) continue;
    foreign = std::max(foreign, trial.noise.foreign_cpu.value_or(0));
    steal = std::max(steal, trial.noise.steal.value_or(0));
    throttled_s = std::max(throttled_s, trial.noise.throttled_s.value_or(0));
  }
  std::vector<std::string> causes;
  if (foreign > 0) causes.push_back(fmt::format("other programs used up to {:.0f} % of a processor", foreign * 100));
  if (steal > 0) causes.push_back(fmt::format("up to {:.1f} % of the time was stolen", steal * 100));
  if (throttled_s > 0) causes.push_back(fmt::format("throttled for up to {:.2g} s", throttled_s));
  return fmt::format("{}", fmt::join(causes, ", "));
}

std::vector<int> blocks_to_repeat(const RunRecord& record) {
  if (record.plan.repeat_disturbed <= 0) return {};
  std::set<int> disturbed;
  for (const Samples& trial : record.trials) {
    if (is_disturbed(trial.noise)) disturbed.insert(trial.process);
  }
  std::vector<int> blocks(disturbed.begin(), disturbed.end());
  blocks.resize(std::min(blocks.size(), static_cast<std::size_t>(record.plan.repeat_disturbed)));
  return blocks;
}

}  // namespace

std::vector<int> blocks_set_aside(const RunRecord& record) {
  const std::vector<int> blocks = blocks_to_repeat(record);
  return complete_blocks_without(record, blocks) > 0 ? blocks : std::vector<int>{};
}

std::vector<const Samples*> trials_that_count(const RunRecord& record) {
  const std::vector<int> set_aside = blocks_set_aside(record);
  std::vector<const Samples*> trials;
  for (const Samples& trial : record.trials) {
    if (!is_set_aside(set_aside, trial)) trials.push_back(&trial);
  }
  return trials;
}

std::vector<Samples> trials_of(const RunRecord& run, int subject) {
  std::vector<Samples> trials;
  for (const Samples* trial : trials_that_count(run)) {
    if (trial->subject == subject) trials.push_back(*trial);
  }
  return trials;
}

std::vector<const Samples*> trials_that_must_end_well(const RunRecord& record) {
  std::vector<const Samples*> trials;
  for (const Samples& trial : record.trials) trials.push_back(&trial);
  for (const Samples& trial : record.side_trials) {
    if (trial.purpose == Purpose::leak) trials.push_back(&trial);
  }
  return trials;
}

int complete_blocks(const RunRecord& record) { return complete_blocks_without(record, blocks_set_aside(record)); }

int blocks_worth_keeping(const RunRecord& record) { return complete_blocks_without(record, blocks_to_repeat(record)); }

std::vector<Diagnostic> block_diagnostics(const RunRecord& record) {
  const std::vector<int> set_aside = blocks_set_aside(record);
  if (set_aside.empty()) return {};
  const std::string what = record.plan.question ? counted(std::ssize(set_aside), "pair", "pairs")
                                                : counted(std::ssize(set_aside), "round", "rounds");
  const bool is_one = set_aside.size() == 1;
  return {{.id = DiagnosticId::disturbed_repeated,
           .message = fmt::format("{} {} disturbed and measured again, and {} no figure: {}", what,
                                  is_one ? "was" : "were", is_one ? "enters" : "enter", worst_of(record, set_aside)),
           .about = {}}};
}

}  // namespace infermeter
