#include "infermeter/stats/changes/cycle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

constexpr double smaller_group = 0.2;
constexpr std::size_t least_changes = 3;

// Distance of the two means over the spread within the groups. Halves of a normal distribution have 2.65
// (2 √(2/π) / √(1 − 2/π)), those of a uniform one √12 = 3.46; a drift looks like the latter.
constexpr double distinct = 4;
// The same over the spread of the values themselves. A few autocorrelated values can wander between two places; those
// are close to each other for what the values do at each of them (1.8 for an autocorrelation of 0.7).
constexpr double distinct_values = 2.3;

constexpr std::size_t width = 7;  // of the running median

std::vector<double> running_medians(std::span<const double> values) {
  std::array<double, width> around{};
  std::vector<double> medians;
  for (std::size_t begin = 0; begin + around.size() <= values.size(); ++begin) {
    std::ranges::copy(values.subspan(begin, around.size()), around.begin());
    std::ranges::nth_element(around, around.begin() + around.size() / 2);
    medians.push_back(around[around.size() / 2]);
  }
  return medians;
}

// How many of the sorted values are in the lower group: the cut with the largest sum of squares between the groups
// (Otsu, "A threshold selection method from gray-level histograms", IEEE Trans. SMC 9 (1979) 62–66).
std::size_t best_cut(std::span<const double> sorted) {
  double total = 0;
  for (const double value : sorted) total += value;
  const auto n = static_cast<double>(sorted.size());
  double below = 0;
  double largest = -1;
  std::size_t cut = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    below += sorted[i - 1];
    const auto lower = static_cast<double>(i);
    const double distance = below / lower - (total - below) / (n - lower);
    const double between = lower * (n - lower) * distance * distance;
    if (between > largest) {
      largest = between;
      cut = i;
    }
  }
  return cut;
}

struct Groups {
  std::vector<double> lower, upper;
};

Groups divide(std::span<const double> values, std::span<const double> medians, double threshold) {
  Groups groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    (medians[i] > threshold ? groups.upper : groups.lower).push_back(values[i]);
  }
  return groups;
}

bool apart(const Groups& groups, double least, double factor) {
  const Moments lower = moments_of(groups.lower);
  const Moments upper = moments_of(groups.upper);
  const double within = (static_cast<double>(lower.count) * lower.variance +  //
                         static_cast<double>(upper.count) * upper.variance) /
                        static_cast<double>(lower.count + upper.count);
  const double distance = upper.mean - lower.mean;
  return distance > least && distance > factor * std::sqrt(within);
}

// How often the series goes from one group to the other and stays there for `long_enough` at least.
std::size_t changes_of_side(std::span<const double> values, double threshold, std::size_t long_enough) {
  std::size_t changes = 0;
  bool side = values.front() > threshold;
  std::size_t beyond = 0;  // values on the other side in a row
  for (const double value : values) {
    beyond = (value > threshold) == side ? 0 : beyond + 1;
    if (beyond < long_enough) continue;
    side = !side;
    beyond = 0;
    ++changes;
  }
  return changes;
}

}  // namespace

bool alternates(std::span<const double> values, std::size_t shortest, double least) {
  const std::vector<double> medians = running_medians(values);
  if (medians.size() < 2 * shortest) return false;
  std::vector<double> sorted = medians;
  std::ranges::sort(sorted);
  const std::size_t cut = best_cut(sorted);
  if (static_cast<double>(std::min(cut, sorted.size() - cut)) < smaller_group * static_cast<double>(sorted.size())) {
    return false;
  }
  const double threshold = (sorted[cut - 1] + sorted[cut]) / 2;
  if (!apart(divide(medians, medians, threshold), least, distinct)) return false;
  if (!apart(divide(values.subspan(width / 2, medians.size()), medians, threshold), least, distinct_values))
    return false;
  const std::size_t changes = changes_of_side(medians, threshold, 2 * shortest / 3);
  return changes >= least_changes && medians.size() >= shortest * (changes + 1);
}

}  // namespace infermeter
