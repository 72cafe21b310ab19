// Shares and their differences: accuracy, and its drop.
#pragma once

#include <cstdint>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

// Wilson's score interval (1927) of successes / trials; trials >= 1.
[[nodiscard]] Interval proportion_interval(std::uint64_t successes, std::uint64_t trials, double confidence = 0.95);

struct PairedProportions {
  double difference = 0;  // the second's share of successes less the first's, in [-1, 1]
  Interval interval;      // of it: Newcombe (1998), "Improved confidence intervals for the difference between binomial
                          // proportions based on paired data", method 10
  double p_value = 1;     // that they are equally good: McNemar's exact test with mid-p (Fagerland et al. 2013)
};

// From the paired table: trials in which both succeed, only the first, only the second, neither; at least one in all.
[[nodiscard]] PairedProportions compare_paired(std::uint64_t both, std::uint64_t first_only, std::uint64_t second_only,
                                               std::uint64_t neither, double confidence = 0.95);

}  // namespace infermeter
