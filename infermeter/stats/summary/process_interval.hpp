// From one value per worker process to a figure with its interval. The process is the unit of replication.
#pragma once

#include <optional>
#include <span>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

struct Centre {
  double value = 0;
  std::optional<Interval> interval;  // nullopt: fewer than two processes, or too wide for a double
  bool geometric = true;             // false: a value was not positive, so that the arithmetic mean was taken
};

// exp(mean ± t s/√m) of the logarithms, t with m - 1 degrees of freedom: times and sizes vary by factors, and an
// interval on the log scale is never negative (Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013,
// for the process as the unit). `values` is not empty and finite.
[[nodiscard]] Centre centre_of(std::span<const double> values, double confidence);

// mean ± t s/√m of the values as they are, for what is no size: it may be 0 or negative. Same conditions.
[[nodiscard]] Centre arithmetic_centre_of(std::span<const double> values, double confidence);

// Geometric mean of `numerator` over that of `denominator`; Welch's interval on logarithms (Welch, "The generalization
// of Student's problem when several different population variances are involved", Biometrika 34 (1947) 28–35). nullopt:
// a value is not positive.
[[nodiscard]] std::optional<Centre> ratio_of(std::span<const double> numerator, std::span<const double> denominator,
                                             double confidence);

// Two-sided p of "the two have the same geometric mean", by the same statistic. nullopt: as there, or fewer than two
// values of one of them.
[[nodiscard]] std::optional<double> welch_p(std::span<const double> first, std::span<const double> second);

// The same ratio of values that belong to each other one by one, as many of both: its interval is that of the mean
// difference of logarithms.
[[nodiscard]] std::optional<Centre> paired_ratio_of(std::span<const double> numerator,
                                                    std::span<const double> denominator, double confidence);

// Its interval says how often it covers, which several looks make less often than its own confidence.
[[nodiscard]] std::string widening_note(const Coverage& coverage);  // for the method: ", widened for …", or ""
[[nodiscard]] Centre covering(Centre centre, const Coverage& coverage);

}  // namespace infermeter
