// The standard normal distribution.
#pragma once

#include <cmath>
#include <numbers>

namespace infermeter {

// P(Z > z), to full relative accuracy far out.
[[nodiscard]] inline double normal_tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

[[nodiscard]] inline double normal_density(double z) {
  return std::exp(-z * z / 2) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

// The z with normal_tail(z) = tail, tail in (0, 1).
[[nodiscard]] double normal_tail_quantile(double tail);

}  // namespace infermeter
