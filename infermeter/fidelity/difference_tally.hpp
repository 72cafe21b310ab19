// What one pass over pairs of numbers shows. Tallies of parts add up to the tally of the whole, so that a data set of
// any size can be gone through item by item.
//
// r: the reference's numbers, c: the candidate's; sums and means go over the n pairs in which both are finite. A figure
// is nullopt where there is no such pair, where its formula divides by 0, or where a square leaves the range of
// doubles.
#pragma once

#include <cstdint>
#include <optional>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct DifferenceTally {
  std::uint64_t count = 0;  // pairs, whatever they are
  std::uint64_t nan_reference = 0, nan_candidate = 0, inf_reference = 0, inf_candidate = 0;
  // Pairs in which either is NaN or infinite and the other is not the same. NaN and NaN, and infinities of one sign,
  // agree: that is what a right implementation gives for such an input.
  std::uint64_t non_finite_apart = 0;
  std::uint64_t first_non_finite_apart = 0;  // its index, if there is one

  std::uint64_t finite = 0;                      // n
  double largest_reference = 0;                  // max |r|
  double reference_low = 0, reference_high = 0;  // min r and max r, if n > 0
  double max_absolute = 0;                       // max |c - r|
  std::uint64_t max_absolute_index = 0;
  double reference_at_max = 0, candidate_at_max = 0;
  double sum_absolute_reference = 0;
  double sum_reference_squared = 0, sum_candidate_squared = 0, sum_product = 0, sum_difference_squared = 0;
  double sum_absolute_difference = 0;
  // Means, as what they are beyond the first finite pair, and sums of centred squares and products, combined from parts
  // as in Chan, Golub & LeVeque (1983): raw sums, and means by themselves, lose every digit where a mean is large
  // beside the spread.
  double first_reference = 0, first_candidate = 0;
  double mean_reference = 0, mean_candidate = 0;
  double centred_reference = 0, centred_candidate = 0, centred_product = 0;

  // Pairs of tensors of one class of types and one number of values (element_reader.hpp: values_in), which count from
  // `first_index` on. Neither text nor none.
  void add(const Tensor& reference, const Tensor& candidate, std::uint64_t first_index);
  // A tally of other pairs, whose indices are its own.
  void add(const DifferenceTally& more);

  // This, or one without finite pairs if a value is finite in one and not in the other: an error over the rest would be
  // none of the whole.
  [[nodiscard]] DifferenceTally of_errors() const;
  [[nodiscard]] std::optional<double> largest_difference() const;  // max |c - r|; 0 of nothing
  [[nodiscard]] std::optional<double> mae() const;                 // Σ|c - r| / n, in the output's unit
  [[nodiscard]] std::optional<double> mse() const;                 // Σ(c - r)² / n
  [[nodiscard]] std::optional<double> rmse() const;                // √mse
  [[nodiscard]] std::optional<double> relative_l1() const;         // Σ|c - r| / Σ|r|
  [[nodiscard]] std::optional<double> relative_l2() const;         // √(Σ(c - r)² / Σr²)
  [[nodiscard]] std::optional<double> relative_max() const;        // max|c - r| / max|r|
  [[nodiscard]] std::optional<double> cosine() const;              // Σrc / √(Σr² Σc²), in [-1, 1]
  [[nodiscard]] std::optional<double> pearson() const;     // of r and c, in [-1, 1]; nullopt if either is constant
  [[nodiscard]] std::optional<double> data_range() const;  // max r - min r
  // 10 log10(range² / mse) decibels, +infinity where mse is 0; nullopt where range is 0 and mse is not. `range`: the
  // largest value that there can be less the smallest (255 of 8-bit images); without one data_range().
  [[nodiscard]] std::optional<double> psnr_db(std::optional<double> range = {}) const;
};

// The tally of two tensors from anywhere. Errors (usage) name what cannot be compared: classes of types or shapes that
// differ, text.
[[nodiscard]] Result<DifferenceTally> difference_of(const Tensor& reference, const Tensor& candidate);

// Pairs of the tensors that are further apart than `bound`, those of non_finite_apart included.
[[nodiscard]] std::uint64_t count_beyond(const Tensor& reference, const Tensor& candidate, double bound);

}  // namespace infermeter
