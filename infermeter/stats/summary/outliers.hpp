// Outliers of one process: marked always, removed only by the rule that the user asked for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace infermeter {

struct Marked {
  std::int64_t mild = 0;    // beyond 1.5, but not beyond 3, interquartile ranges of the quartiles
  std::int64_t severe = 0;  // beyond 3
};

// Tukey, "Exploratory Data Analysis", 1977, chapter 2, with type 7 quartiles for his hinges: values beyond the inner
// fences are mild outliers, those beyond the outer ones severe. `sorted` is ascending and not empty.
struct Fences {
  double severe_low = 0, mild_low = 0, mild_high = 0, severe_high = 0;
};
[[nodiscard]] Fences tukey_fences(std::span<const double> sorted);

// `sorted` is ascending.
[[nodiscard]] Marked mark_outliers(std::span<const double> sorted);

struct Kept {
  std::vector<double> values;  // in their order
  bool ignored = false;        // the rule would have removed all, or there is no spread to measure by: all are kept
};

// "sigma": more than `factor` standard deviations from the mean; "iqr": more than `factor` interquartile ranges beyond
// the quartiles; "mad": more than `factor` times 1.4826 median absolute deviations from the median (1.4826 makes it the
// standard deviation of a normal distribution); "none" keeps all.
[[nodiscard]] Kept remove_outliers(std::span<const double> values, std::string_view rule, double factor);

}  // namespace infermeter
