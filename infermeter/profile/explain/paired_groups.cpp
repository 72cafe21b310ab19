#include "infermeter/profile/explain/paired_groups.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/distributions/student_t.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

constexpr double kNanosecond = 1e-9;

struct GroupPair {
  const ProcessOperatorTimes& a;
  const ProcessOperatorTimes& b;
};

// Of the same process number; of several on a side the first.
std::vector<GroupPair> pairs_of(const SubjectOperatorTimes& a, const SubjectOperatorTimes& b) {
  std::vector<GroupPair> pairs;
  for (const ProcessOperatorTimes& of_a : a.processes) {
    const auto again = [&](const GroupPair& pair) { return pair.a.process == of_a.process; };
    if (std::ranges::any_of(pairs, again)) continue;
    const auto of_b = std::ranges::find(b.processes, of_a.process, &ProcessOperatorTimes::process);
    if (of_b != b.processes.end()) pairs.push_back({of_a, *of_b});
  }
  return pairs;
}

double sum_of(const std::vector<double>& operator_s, const std::vector<std::size_t>& operators) {
  double sum = 0;
  for (const std::size_t op : operators) sum += op < operator_s.size() ? operator_s[op] : 0;
  return sum;
}

void add_group(const CommonGroup& group, const std::vector<GroupPair>& pairs, PairedGroups& paired) {
  GroupDifference difference;
  difference.group = group;
  std::vector<double> by_pair;
  for (const GroupPair& pair : pairs) {
    const double a = sum_of(pair.a.operator_s, group.in_a);
    const double b = sum_of(pair.b.operator_s, group.in_b);
    difference.a_s += a / static_cast<double>(pairs.size());
    difference.b_s += b / static_cast<double>(pairs.size());
    by_pair.push_back(b - a);
  }
  paired.groups.push_back(std::move(difference));
  paired.differences.push_back(std::move(by_pair));
}

// What the groups leave of the walls, so that all add up whatever the groups are.
void add_rest(PairedGroups& paired) {
  GroupDifference rest;
  rest.group.kind = kRestKind;
  rest.a_s = moments_of(paired.a_wall_s).mean;
  rest.b_s = moments_of(paired.b_wall_s).mean;
  std::vector<double> by_pair = paired.whole;
  for (std::size_t group = 0; group < paired.groups.size(); ++group) {
    rest.a_s -= paired.groups[group].a_s;
    rest.b_s -= paired.groups[group].b_s;
    for (std::size_t pair = 0; pair < by_pair.size(); ++pair) by_pair[pair] -= paired.differences[group][pair];
  }
  paired.groups.push_back(std::move(rest));
  paired.differences.push_back(std::move(by_pair));
}

void order_by_size(PairedGroups& paired) {
  std::vector<std::size_t> order(paired.groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return std::abs(paired.groups[i].mean_s); });
  PairedGroups ordered;
  for (const std::size_t i : order) {
    ordered.groups.push_back(std::move(paired.groups[i]));
    ordered.differences.push_back(std::move(paired.differences[i]));
  }
  paired.groups = std::move(ordered.groups);
  paired.differences = std::move(ordered.differences);
}

}  // namespace

TestedMean tested_mean(std::span<const double> differences) {
  const Moments moments = moments_of(differences);
  TestedMean tested{moments.mean, moments.mean, moments.mean, 1};
  const std::optional<Interval> interval = t_interval(differences, 0.95);
  if (!interval) return tested;
  tested.low_s = interval->low;
  tested.high_s = interval->high;
  if (std::abs(moments.mean) < kNanosecond) return tested;
  const auto n = static_cast<double>(moments.count);
  const double error = std::sqrt(moments.variance / n);
  if (error < std::abs(moments.mean) * 1e-15) {
    tested.p = 0;
    return tested;
  }
  tested.p = 2 * student_t_tail(std::abs(moments.mean) / error, n - 1);
  return tested;
}

PairedGroups paired_groups(const SubjectOperatorTimes& a, const SubjectOperatorTimes& b,
                           const std::vector<CommonGroup>& groups) {
  const std::vector<GroupPair> pairs = pairs_of(a, b);
  PairedGroups paired;
  for (const GroupPair& pair : pairs) {
    paired.a_wall_s.push_back(pair.a.wall_s);
    paired.b_wall_s.push_back(pair.b.wall_s);
    paired.whole.push_back(pair.b.wall_s - pair.a.wall_s);
  }
  for (const CommonGroup& group : groups) add_group(group, pairs, paired);
  add_rest(paired);
  for (std::size_t i = 0; i < paired.groups.size(); ++i) {
    const TestedMean tested = tested_mean(paired.differences[i]);
    paired.groups[i].mean_s = tested.mean_s;
    paired.groups[i].low_s = tested.low_s;
    paired.groups[i].high_s = tested.high_s;
    paired.groups[i].p = tested.p;
  }
  order_by_size(paired);
  return paired;
}

std::vector<double> summed(const std::vector<std::vector<double>>& differences, std::span<const std::size_t> members) {
  INFERMETER_CHECK(!differences.empty());
  std::vector<double> sums(differences.front().size());
  for (const std::size_t member : members) {
    for (std::size_t pair = 0; pair < sums.size(); ++pair) sums[pair] += differences[member][pair];
  }
  return sums;
}

}  // namespace infermeter
