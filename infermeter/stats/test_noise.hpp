// Seeded noise for the tests of this folder: the same on every machine, which the distributions of std:: are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "infermeter/text/hash.hpp"

namespace infermeter {

// SplitMix64 (Steele, Lea & Flood 2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() { return split_mix(state_ += kSplitMixStep); }

  double uniform() { return static_cast<double>(bits() >> 11) / 9007199254740992.0; }  // [0, 1)

  // Variance 1, nearly normal, and of additions only: another language has the same doubles.
  double sum_of_twelve() {
    double total = 0;
    for (int i = 0; i < 12; ++i) total += uniform();
    return total - 6.0;
  }

  // Box & Muller 1958; the second of each pair is not used.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  // Student's t with 3 degrees of freedom: variance 3.
  double t3() {
    const double numerator = normal();
    const double a = normal();
    const double b = normal();
    const double c = normal();
    return numerator / std::sqrt((a * a + b * b + c * c) / 3);
  }

 private:
  std::uint64_t state_;
};

}  // namespace infermeter
