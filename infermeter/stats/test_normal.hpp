// Normal noise for the tests of this folder, the same everywhere: what std::normal_distribution draws differs between
// standard libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "infermeter/stats/distributions/normal.hpp"

namespace infermeter {

class NormalNoise {
 public:
  explicit NormalNoise(std::uint64_t seed) : engine_(seed) {}

  double operator()() { return normal_tail_quantile((static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53); }

  std::vector<double> draw(std::size_t count, double mean = 0, double deviation = 1) {
    std::vector<double> values(count);
    for (double& value : values) value = mean + deviation * (*this)();
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace infermeter
