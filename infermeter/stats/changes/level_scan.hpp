// Where the mean of a series changes, in normal noise that may be autocorrelated.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace infermeter {

struct LevelSplit {
  std::size_t index = 0;  // the first value of the second level
  double t = 0;           // |t| of the two-sample test with pooled variance
};

// The split with the largest |t|, at least `least` values on either side; values.size() >= 2 · least >= 4.
[[nodiscard]] LevelSplit best_level_split(std::span<const double> values, std::size_t least);

// Lag-1 autocorrelation of the residuals around the means of the parts that `boundaries` (0, …, n) bound, freed of its
// bias, in 0 … 0.95. The bias is −(1 + 4 φ)/n around one mean (Marriott & Pope, "Bias in the estimation of
// autocorrelations", and Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41 (1954) 390–404),
// of which every mean brings (1 + φ)/n: −(k + (k + 3) φ)/n with k `parameters`. Below 0 is 0: correcting |t| upwards by
// what is mostly chance would more than double the false alarms (simulated, n = 50: 2.3 % instead of 1 %).
[[nodiscard]] double autocorrelation_around(std::span<const double> values, std::span<const std::size_t> boundaries,
                                            double parameters);

// Two means and their border. The border lies where the residuals are smallest and takes as much of the autocorrelation
// as two means do (simulated, n = 50: for φ = 0, 0.3, 0.5, 0.7 the estimate is −0.08, 0.18, 0.35, 0.51 on average, and
// −0.01, 0.29, 0.48, 0.66 freed of the bias of four parameters).
inline constexpr double kParametersOfBestSplit = 4;

// |t| √((1 − φ)/(1 + φ)): with AR(1) noise the variance of a mean is (1 + φ)/(1 − φ) times that of independent values
// (Tang & MacNeill, "The effect of serial correlation on tests for parameter change at unknown time", Ann. Statist. 21
// (1993) 552–575, correct such tests by this factor).
[[nodiscard]] double corrected_t(double t, double phi);

// |t| of the best split, corrected by the autocorrelation around it.
[[nodiscard]] double corrected_t_of(std::span<const double> values, std::size_t least);

// The recursive scan: the best split of the series, then of either side, as long as its |t|, corrected, exceeds
// scan_critical_value. Ascending.
[[nodiscard]] std::vector<std::size_t> scan_levels(std::span<const double> values, std::size_t least, double alpha);

// The same with |t| as it is, `times` the critical value: levels that are far apart. Nothing is said about the noise,
// and other changes nearby do not pass for autocorrelation.
[[nodiscard]] std::vector<std::size_t> scan_far_levels(std::span<const double> values, std::size_t least, double alpha,
                                                       double times);

}  // namespace infermeter
