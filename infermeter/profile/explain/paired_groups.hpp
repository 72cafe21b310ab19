// Differences of common groups, pair of processes by pair: what explain() judges.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infermeter/profile/explain/explanation.hpp"
#include "infermeter/profile/operators/operator_times.hpp"

namespace infermeter {

// The mean of differences, its 95 % t interval and the two-sided p of Student's t test of 0. A mean of less than a
// nanosecond is no difference: p is 1.
struct TestedMean {
  double mean_s = 0, low_s = 0, high_s = 0, p = 1;
  [[nodiscard]] double half_width_s() const { return (high_s - low_s) / 2; }
};
[[nodiscard]] TestedMean tested_mean(std::span<const double> differences);

struct PairedGroups {
  std::vector<GroupDifference> groups;           // by |mean|, largest first; none is separable yet
  std::vector<std::vector<double>> differences;  // of each group: B - A of each pair, seconds
  std::vector<double> whole;                     // of the walls; each pair's groups add up to it
  std::vector<double> a_wall_s, b_wall_s;
};
// Groups are those that the operators of both sides have in common; the rest is added.
[[nodiscard]] PairedGroups paired_groups(const SubjectOperatorTimes& a, const SubjectOperatorTimes& b,
                                         const std::vector<CommonGroup>& groups);

// Per pair the sum over `members`, indices into `differences`.
[[nodiscard]] std::vector<double> summed(const std::vector<std::vector<double>>& differences,
                                         std::span<const std::size_t> members);

}  // namespace infermeter
