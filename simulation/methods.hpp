// Ways to say that B differs from A: what the product calls, and what other tools do.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/comparison/sequential.hpp"
#include "simulation/noise.hpp"

namespace infermeter::study {

[[nodiscard]] bool has_direction(const std::vector<Look>& looks);

// The same looks, each at 5 %: nothing is spent.
[[nodiscard]] bool alarm_without_spending(std::span<const double> differences);

// The paired t test at 5 % after every pair from the third on, until it rejects.
[[nodiscard]] bool alarm_of_t_at_every_look(std::span<const double> differences);

// Welch's t test of process medians, unpaired, at 5 %.
[[nodiscard]] bool welch_alarm(const Times& baseline, const Times& candidate);

// Mann & Whitney's test of all iterations of all processes, at 5 %.
[[nodiscard]] bool pooled_rank_sum_alarm(const std::vector<Times>& baseline, const std::vector<Times>& candidate);

// Percentile bootstrap (Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, §13.3) of a mean: 199 samples, 95
// %.
[[nodiscard]] Interval percentile_bootstrap(const Times& values, SplitMix& random);
// Of the difference of the means of all iterations.
[[nodiscard]] bool pooled_bootstrap_alarm(const std::vector<Times>& baseline, const std::vector<Times>& candidate,
                                          SplitMix& random);
// Processes drawn first, then iterations of each.
[[nodiscard]] Interval two_level_bootstrap(const std::vector<Times>& processes, SplitMix& random);

[[nodiscard]] Times pooled(const std::vector<Times>& processes);
[[nodiscard]] Times levels_of(const std::vector<Times>& processes);

}  // namespace infermeter::study
