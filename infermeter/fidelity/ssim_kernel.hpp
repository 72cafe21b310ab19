// The sums below structural similarity (ssim.hpp), axis by axis, by the widest instructions that there are.
//
// A window's weight is the product of its weights along the axes, so its five sums (of r, c, r², c² and rc) are sums
// over the last axis of sums over the ones before. Everything is summed anew for each window: sums that slide keep the
// rounding errors of whatever large value they once held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "infermeter/data/dtype.hpp"

namespace infermeter {

// Five rows, one behind the other, `stride` apart; each has room for so many numbers beyond its last.
struct FiveRows {
  static constexpr std::size_t room = 8;
  double* values = nullptr;
  std::size_t stride = 0;  // a multiple of `room`
};

// What a pixel becomes: value * scale - shift.
struct SsimUnits {
  double scale = 1, shift_reference = 0, shift_candidate = 0;
};

struct SsimConstants {
  double c1 = 0, c2 = 0;                          // (k1 range)² and (k2 range)², in units of pixels
  double sample = 1;                              // what variances are multiplied with: n / (n - 1), or 1
  double mean_reference = 0, mean_candidate = 0;  // to be added to means: what SsimUnits took away
};

// Can rows of this type be summed? Otherwise they must be made float64 first.
[[nodiscard]] bool ssim_takes(DType dtype);

// The first axis: sums over the rows of pixels, weights[k] for row k, `count` numbers of each. Any address will do.
void weigh_rows(DType dtype, std::span<const std::byte* const> reference, std::span<const std::byte* const> candidate,
                std::span<const double> weights, std::size_t count, const SsimUnits& units, FiveRows sums);

// A middle axis: sums over FiveRows of one stride, which begin at rows[k].
void weigh_sums(std::span<const double* const> rows, std::span<const double> weights, FiveRows sums);

// The last axis, along which neighbours are `step` numbers apart, and the similarity (equation 13 of the paper) of the
// `count` windows that begin at the first numbers; their sum.
[[nodiscard]] double sum_similarity(FiveRows rows, std::span<const double> weights, std::size_t step, std::size_t count,
                                    const SsimConstants& constants);

}  // namespace infermeter
