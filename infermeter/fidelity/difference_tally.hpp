// What one pass over pairs of numbers tells. Tallies of parts add up to the tally of the whole.
#pragma once

#include <cstdint>
#include <optional>

#include "infermeter/fidelity/element_reader.hpp"

namespace infermeter {

struct DifferenceTally {
  std::uint64_t count = 0;
  std::uint64_t nan_reference = 0, nan_candidate = 0, inf_reference = 0, inf_candidate = 0;
  // Pairs in which either is NaN or infinite and the other is not the same. NaN and NaN, and infinities of one sign,
  // agree: that is what a right implementation gives for such an input.
  std::uint64_t non_finite_apart = 0;
  std::uint64_t first_non_finite_apart = 0;  // its index, if there is one

  // Over the pairs in which both are finite.
  double largest_reference = 0;  // magnitude
  double max_absolute = 0;
  std::uint64_t max_absolute_index = 0;
  double reference_at_max = 0, candidate_at_max = 0;
  double sum_reference_squared = 0, sum_candidate_squared = 0, sum_product = 0, sum_difference_squared = 0;
  double sum_absolute_difference = 0;

  // Sums are made per chunk and then added, which keeps the rounding error of n values near that of n / chunk_size.
  void add(const ElementChunk& chunk, std::uint64_t first_index);

  // ||c - r|| / ||r||; nullopt if r is 0 or a square leaves the range of doubles.
  [[nodiscard]] std::optional<double> relative_l2() const;
  // In [-1, 1]; nullopt if either is 0 or a square leaves the range of doubles.
  [[nodiscard]] std::optional<double> cosine() const;
};

// Pairs of the chunk that are further apart than `bound`, those of non_finite_apart included.
[[nodiscard]] std::uint64_t count_beyond(const ElementChunk& chunk, double bound);

}  // namespace infermeter
