// Mean and variance.
#pragma once

#include <cstddef>
#include <span>

namespace infermeter {

struct Moments {
  std::size_t count = 0;
  double mean = 0;
  double variance = 0;  // with n - 1; 0 for fewer than two values
};

// In two passes, so that a small spread on a large mean survives; the same for every order of the values up to
// rounding.
[[nodiscard]] Moments moments_of(std::span<const double> values);

}  // namespace infermeter
