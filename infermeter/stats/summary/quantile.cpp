#include "infermeter/stats/summary/quantile.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/binomial.hpp>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {

double quantile(std::span<const double> sorted, double q) {
  INFERMETER_CHECK(!sorted.empty() && q >= 0 && q <= 1);
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double weight = position - std::floor(position);
  return sorted[below] + weight * (sorted[below + 1] - sorted[below]);
}

double sample_median(std::vector<double> values) {
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

std::optional<RankInterval> quantile_ranks(std::int64_t n, double q, double confidence) {
  INFERMETER_CHECK(q > 0 && q < 1 && confidence > 0 && confidence < 1);
  if (n < 2) return std::nullopt;
  const boost::math::binomial_distribution<double> below(static_cast<double>(n), q);
  const auto probability = [&](std::int64_t count) {
    return count < 1 || count > n - 1 ? 0.0 : boost::math::pdf(below, static_cast<double>(count));
  };
  // The binomial has one peak: growing from it towards the more probable side collects the most probable counts.
  std::int64_t first = std::clamp(static_cast<std::int64_t>(static_cast<double>(n + 1) * q), std::int64_t{1}, n - 1);
  std::int64_t last = first;
  double coverage = probability(first);
  double left = probability(first - 1);
  double right = probability(last + 1);
  while (coverage < confidence && left + right > 0) {
    if (left >= right) {
      coverage += left;
      left = probability(--first - 1);
    } else {
      coverage += right;
      right = probability(++last + 1);
    }
  }
  if (coverage < confidence) return std::nullopt;
  return RankInterval{first, last + 1, coverage};
}

std::int64_t quantile_needs(double q, double confidence) {
  INFERMETER_CHECK(q > 0 && q < 1 && confidence > 0 && confidence < 1);
  std::int64_t n = 2;
  double all_below = q * q;
  double all_above = (1 - q) * (1 - q);
  while (1 - all_below - all_above < confidence) {
    all_below *= q;
    all_above *= 1 - q;
    ++n;
  }
  return n;
}

std::optional<Interval> quantile_interval(std::span<const double> sorted, double q, double confidence) {
  const auto ranks = quantile_ranks(static_cast<std::int64_t>(sorted.size()), q, confidence);
  if (!ranks) return std::nullopt;
  return Interval{sorted[static_cast<std::size_t>(ranks->low - 1)], sorted[static_cast<std::size_t>(ranks->high - 1)],
                  confidence};
}

}  // namespace infermeter
