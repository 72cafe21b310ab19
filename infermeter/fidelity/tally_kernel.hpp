// The sums of difference_tally.hpp over a block of elements, in one pass, by the widest instructions that there are.
#pragma once

#include <cstddef>

#include "infermeter/data/dtype.hpp"

namespace infermeter {

// Over the pairs (r, c) of a block. Sums are of r - shift_reference and c - shift_candidate where it says "shifted":
// the block's first pair, so that neither the mean nor the spread loses digits to the other.
struct BlockSums {
  std::size_t count = 0;  // pairs that are in here: the block's, less a few at its end; 0: not of a type for this
  double shift_reference = 0, shift_candidate = 0;
  double reference = 0, candidate = 0;                                             // shifted
  double reference_squared = 0, candidate_squared = 0, product = 0;                // shifted
  double absolute_reference = 0, absolute_difference = 0, difference_squared = 0;  // not
  double low = 0, high = 0;                                                        // of the reference
  double max_absolute = 0;                                                         // of the difference
};

// Of `count` elements of one type that may lie at any address. If anything in the block is NaN or infinite, or leaves
// the range of doubles, then the shifted sums or the squared difference are not finite and the rest means nothing.
[[nodiscard]] BlockSums sum_block(DType dtype, const std::byte* reference, const std::byte* candidate,
                                  std::size_t count);

// Where |candidate - reference| is `value` for the first time, which it is in this block.
[[nodiscard]] std::size_t find_difference(DType dtype, const std::byte* reference, const std::byte* candidate,
                                          std::size_t count, double value);

// Pairs with |candidate - reference| > bound, where all of the block is finite; `count` is that of its BlockSums.
[[nodiscard]] std::size_t count_differences(DType dtype, const std::byte* reference, const std::byte* candidate,
                                            std::size_t count, double bound);

}  // namespace infermeter
