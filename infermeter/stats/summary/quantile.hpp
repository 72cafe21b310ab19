// Quantiles of a sample, and how well a sample can tell them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

// Type 7 of Hyndman & Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996) 361–365:
// linear interpolation at rank 1 + (n - 1) q, as NumPy and R do it. `sorted` is ascending and not empty; q in [0, 1].
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

// Of values in any order; not of none.
[[nodiscard]] double sample_median(std::vector<double> values);

// Ranks (1-based) of the order statistics X(low), X(high) with P(X(low) <= quantile < X(high)) >= confidence.
struct RankInterval {
  std::int64_t low = 0, high = 0;
  double coverage = 0;  // at least, for n independent values
};

// The number of values below the quantile is binomial(n, q), so that P(X(l) <= quantile < X(u)) is at least the sum of
// its probabilities at l … u - 1 (David & Nagaraja, "Order Statistics", 3rd ed. 2003, §7.1). The most probable counts
// are taken first, which gives the fewest ranks; an interval with equal tails would need more values (368 for p99, not
// 299). nullopt: even the smallest and the largest value do not enclose it often enough.
[[nodiscard]] std::optional<RankInterval> quantile_ranks(std::int64_t n, double q, double confidence);

// The least n for which there is one: 1 - q^n - (1 - q)^n >= confidence. q in (0, 1), confidence in (0, 1).
[[nodiscard]] std::int64_t quantile_needs(double q, double confidence);

// The same as values of `sorted`.
[[nodiscard]] std::optional<Interval> quantile_interval(std::span<const double> sorted, double q, double confidence);

}  // namespace infermeter
