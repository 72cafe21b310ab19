#include "infermeter/stats/summary/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter {
namespace {

struct Range {
  double low = 0, high = 0;
  [[nodiscard]] bool holds(double value) const { return value >= low && value <= high; }
};

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

Range fences(std::span<const double> sorted, double factor) {
  const double low = quantile(sorted, 0.25);
  const double high = quantile(sorted, 0.75);
  return {low - factor * (high - low), high + factor * (high - low)};
}

std::optional<Range> around(double middle, double spread) {
  if (!(spread > 0)) return std::nullopt;
  return Range{middle - spread, middle + spread};
}

std::optional<Range> mad_range(const std::vector<double>& sorted, double factor) {
  const double median = quantile(sorted, 0.5);
  std::vector<double> deviations(sorted.size());
  std::ranges::transform(sorted, deviations.begin(), [&](double value) { return std::abs(value - median); });
  std::ranges::sort(deviations);
  return around(median, factor * 1.4826 * quantile(deviations, 0.5));
}

// nullopt: the values have no spread of the kind that the rule measures by.
std::optional<Range> kept_range(std::span<const double> values, std::string_view rule, double factor) {
  if (rule == "sigma") {
    const Moments moments = moments_of(values);
    return around(moments.mean, factor * std::sqrt(moments.variance));
  }
  const std::vector<double> sorted = sorted_copy(values);
  if (rule == "mad") return mad_range(sorted, factor);
  if (quantile(sorted, 0.75) > quantile(sorted, 0.25)) return fences(sorted, factor);
  return std::nullopt;
}

}  // namespace

Fences tukey_fences(std::span<const double> sorted) {
  const Range inner = fences(sorted, 1.5);
  const Range outer = fences(sorted, 3);
  return {outer.low, inner.low, inner.high, outer.high};
}

Marked mark_outliers(std::span<const double> sorted) {
  Marked marked;
  if (sorted.empty()) return marked;
  const Fences at = tukey_fences(sorted);
  const Range inner{at.mild_low, at.mild_high};
  const Range outer{at.severe_low, at.severe_high};
  for (const double value : sorted) {
    if (!outer.holds(value)) {
      ++marked.severe;
    } else if (!inner.holds(value)) {
      ++marked.mild;
    }
  }
  return marked;
}

Kept remove_outliers(std::span<const double> values, std::string_view rule, double factor) {
  Kept kept;
  kept.values.assign(values.begin(), values.end());
  if (rule == "none" || values.size() < 2 || std::ranges::all_of(values, [&](double v) { return v == values[0]; })) {
    return kept;
  }
  const auto range = kept_range(values, rule, factor);
  if (range) std::erase_if(kept.values, [&](double value) { return !range->holds(value); });
  kept.ignored = !range || kept.values.empty();
  if (kept.ignored) kept.values.assign(values.begin(), values.end());
  return kept;
}

}  // namespace infermeter
