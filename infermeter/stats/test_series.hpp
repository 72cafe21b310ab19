// Series of runs with known noise and changes, the same on every machine, for the tests of this folder.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace infermeter {

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}

  // In (0, 1).
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) / 9007199254740992.0; }

  // Standard (Box & Muller 1958).
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

  std::vector<double> independent(std::size_t n, double sd) { return autoregressive(n, 0, sd); }

  // Stationary AR(1).
  std::vector<double> autoregressive(std::size_t n, double phi, double sd) {
    std::vector<double> values(n);
    double state = normal();
    for (double& value : values) {
      value = sd * state;
      state = phi * state + std::sqrt(1 - phi * phi) * normal();
    }
    return values;
  }

 private:
  std::mt19937_64 random_;
};

inline void raise(std::vector<double>& values, std::size_t begin, std::size_t end, double by) {
  for (std::size_t i = begin; i < end; ++i) values[i] += by;
}

}  // namespace infermeter
