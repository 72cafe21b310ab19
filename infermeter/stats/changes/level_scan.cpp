#include "infermeter/stats/changes/level_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/changes/scan_critical_values.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

std::vector<double> residuals_around(std::span<const double> values, std::span<const std::size_t> boundaries) {
  std::vector<double> residuals(values.begin(), values.end());
  for (std::size_t part = 0; part + 1 < boundaries.size(); ++part) {
    const std::size_t begin = boundaries[part];
    const std::size_t end = boundaries[part + 1];
    const double mean = moments_of(values.subspan(begin, end - begin)).mean;
    for (std::size_t i = begin; i < end; ++i) residuals[i] -= mean;
  }
  return residuals;
}

double lag_one(std::span<const double> residuals) {
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    squares += residuals[i] * residuals[i];
    if (i > 0) products += residuals[i] * residuals[i - 1];
  }
  return squares > 0 ? products / squares : 0;
}

double corrected_t_around(const LevelSplit& split, std::span<const double> values) {
  const std::array<std::size_t, 3> boundaries = {0, split.index, values.size()};
  return corrected_t(split.t, autocorrelation_around(values, boundaries, kParametersOfBestSplit));
}

template <typename Accept>
void scan(std::span<const double> values, std::size_t least, std::size_t origin, const Accept& accepts,
          std::vector<std::size_t>& found) {
  if (values.size() < 2 * least) return;
  const LevelSplit split = best_level_split(values, least);
  if (!accepts(split, values)) return;
  scan(values.first(split.index), least, origin, accepts, found);
  found.push_back(origin + split.index);
  scan(values.subspan(split.index), least, origin + split.index, accepts, found);
}

}  // namespace

LevelSplit best_level_split(std::span<const double> values, std::size_t least) {
  const std::size_t n = values.size();
  INFERMETER_CHECK(least >= 2 && n >= 2 * least);
  const Moments all = moments_of(values);
  const double total = all.variance * static_cast<double>(n - 1);
  std::size_t index = least;
  double between = 0;  // sum of squares: n s² / (m (n − m)), s the sum of the m deviations before the split
  double sum = 0;
  for (std::size_t split = 1; split + least <= n; ++split) {
    sum += values[split - 1] - all.mean;
    if (split < least) continue;
    const double here =
        sum * sum * static_cast<double>(n) / (static_cast<double>(split) * static_cast<double>(n - split));
    if (here <= between) continue;
    between = here;
    index = split;
  }
  // Two levels without any noise: what rounding may leave, so that t is finite.
  const double rounding = total * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  const double within = std::max(total - between, rounding);
  return {index, within > 0 ? std::sqrt(static_cast<double>(n - 2) * between / within) : 0};
}

double autocorrelation_around(std::span<const double> values, std::span<const std::size_t> boundaries,
                              double parameters) {
  INFERMETER_CHECK(!values.empty() && boundaries.size() >= 2);
  const double r = lag_one(residuals_around(values, boundaries));
  const double bias = -(parameters + (parameters + 3) * r) / static_cast<double>(values.size());
  return std::clamp(r - bias, 0.0, 0.95);
}

double corrected_t(double t, double phi) { return t * std::sqrt((1 - phi) / (1 + phi)); }

double corrected_t_of(std::span<const double> values, std::size_t least) {
  return corrected_t_around(best_level_split(values, least), values);
}

std::vector<std::size_t> scan_levels(std::span<const double> values, std::size_t least, double alpha) {
  std::vector<std::size_t> found;
  const auto significant = [&](const LevelSplit& split, std::span<const double> part) {
    return corrected_t_around(split, part) > scan_critical_value(part.size(), alpha);
  };
  scan(values, least, 0, significant, found);
  return found;
}

std::vector<std::size_t> scan_far_levels(std::span<const double> values, std::size_t least, double alpha,
                                         double times) {
  std::vector<std::size_t> found;
  const auto far = [&](const LevelSplit& split, std::span<const double> part) {
    return split.t > times * scan_critical_value(part.size(), alpha);
  };
  scan(values, least, 0, far, found);
  return found;
}

}  // namespace infermeter
