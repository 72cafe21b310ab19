#include "infermeter/profile/explain/explain_groups.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "infermeter/profile/explain/clauses.hpp"
#include "infermeter/profile/explain/group_facts.hpp"
#include "infermeter/profile/explain/paired_groups.hpp"
#include "infermeter/profile/explain/process_p50.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

// B - A of the medians of processes of the same number.
std::vector<double> clean_differences(std::span<const Samples* const> timed_a,
                                      std::span<const Samples* const> timed_b) {
  const std::vector<ProcessP50> of_a = process_p50s(timed_a);
  const std::vector<ProcessP50> of_b = process_p50s(timed_b);
  std::vector<double> differences;
  for (const ProcessP50& a : of_a) {
    const auto b = std::ranges::find(of_b, a.process, &ProcessP50::process);
    if (b != of_b.end()) differences.push_back(b->p50_s - a.p50_s);
  }
  return differences;
}

// Two independent means of the same thing differ by at most √(h₁² + h₂²) in 95 % of cases. A profile has a small cost
// of its own for each operator, so that with enough processes any difference is found: what accounts for at least as
// much as the clauses have to is good enough.
bool agree(const TestedMean& profiled, const TestedMean& clean) {
  const double apart = std::abs(profiled.mean_s - clean.mean_s);
  if (apart <= std::hypot(profiled.half_width_s(), clean.half_width_s())) return true;
  const double share = profiled.mean_s / clean.mean_s;
  return share >= kCovered && share <= 1 / kCovered;
}

void compare_with_clean(const std::vector<double>& clean, const TestedMean& whole, Explanation& explanation) {
  if (clean.empty()) return;
  const TestedMean tested = tested_mean(clean);
  explanation.clean_difference_s = tested.mean_s;
  if (clean.size() < 2) return;
  explanation.clean_low_s = tested.low_s;
  explanation.clean_high_s = tested.high_s;
  explanation.consistent = agree(whole, tested);
}

void set_not_separable(const PairedGroups& paired, Explanation& explanation) {
  std::vector<bool> covered(paired.groups.size());
  for (const Clause& clause : explanation.clauses) {
    for (const std::size_t group : clause.groups) covered[group] = true;
  }
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (!covered[i]) others.push_back(i);
  }
  const TestedMean tested = tested_mean(summed(paired.differences, others));
  explanation.not_separable_s = tested.mean_s;
  explanation.not_separable_half_width_s = tested.half_width_s();
}

}  // namespace

Explanation explain_groups(const SubjectOperatorTimes& a, const SubjectOperatorTimes& b,
                           const std::vector<CommonGroup>& groups, std::span<const Samples* const> timed_a,
                           std::span<const Samples* const> timed_b) {
  Explanation explanation;
  PairedGroups paired = paired_groups(a, b, groups);
  explanation.pairs = paired.whole.size();
  explanation.left_out = a.left_out + b.left_out + a.processes.size() + b.processes.size() - 2 * explanation.pairs;
  if (explanation.pairs < kLeastPairs) {
    explanation.reason = fmt::format("needs {} pairs of profiled processes, there {} {}", kLeastPairs,
                                     explanation.pairs == 1 ? "is" : "are", explanation.pairs);
    return explanation;
  }
  const TestedMean whole = tested_mean(paired.whole);
  explanation.a_s = moments_of(paired.a_wall_s).mean;
  explanation.b_s = moments_of(paired.b_wall_s).mean;
  explanation.difference_s = whole.mean_s;
  explanation.low_s = whole.low_s;
  explanation.high_s = whole.high_s;
  std::vector<GroupFacts> facts;
  const ExplainedSide side_a{a, subject_facts(a)};
  const ExplainedSide side_b{b, subject_facts(b)};
  for (const GroupDifference& group : paired.groups) facts.push_back(group_facts(group.group, side_a, side_b));
  explanation.clauses = find_clauses(paired, facts);
  set_not_separable(paired, explanation);
  explanation.groups = std::move(paired.groups);
  compare_with_clean(clean_differences(timed_a, timed_b), whole, explanation);
  return explanation;
}

}  // namespace infermeter
