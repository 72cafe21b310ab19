// Change points of any kind in the distribution of a series, without assuming what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace infermeter {

struct Division {
  std::size_t index = 0;  // the first value of the new part
  double p = 1;           // when it was found
};

struct DivisiveOptions {
  double alpha = 0.01;
  std::size_t least = 3;  // values in a part, at least 2
  int permutations = 199;
  std::size_t block = 1;  // values that are permuted together; 1: independent values
  std::uint64_t seed = 1;
};

// E-divisive (Matteson & James 2014, §2.3 and 2.4; see energy_split.hpp): the best split of any part is tested, and
// kept if significant, until none is. The test permutes within the parts found so far: p = (b + 1) / (permutations +
// 1), b the permuted series whose best split is as good. Whole blocks are permuted, of a series closed to a ring and
// cut at a random place, so that autocorrelation within a block is under the null as well (the
// ring: Politis & Romano 1992). `boundaries`: 0, the points known beforehand, n. Ascending by index, without those
// known.
[[nodiscard]] std::vector<Division> e_divisive(std::span<const double> values, std::span<const std::size_t> boundaries,
                                               const DivisiveOptions& options);

// p of the best split of the whole series; nullopt if above alpha.
[[nodiscard]] std::optional<double> e_divisive_p(std::span<const double> values, const DivisiveOptions& options);

// The length of blocks for a series of n values with lag-1 autocorrelation phi: (2 φ / (1 − φ²))^(2/3) n^(1/3), the
// best for the variance of the mean of an AR(1) (Carlstein, "The use of subseries values for estimating the variance of
// a general statistic from a stationary sequence", Ann. Statist. 14 (1986) 1171–1179). Rounded up, as
// blocks that are too short let autocorrelation pass for changes; at most a sixth of the series; 1 for phi <= 0.
[[nodiscard]] std::size_t block_length(double phi, std::size_t n);

}  // namespace infermeter
