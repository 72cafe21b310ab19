// The latencies of one subject as quantiles, for pictures: pooled and process by process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infermeter/stats/summary/outliers.hpp"
#include "infermeter/stats/summary/process_times.hpp"

namespace infermeter {

// Ascending, from 0 to 1. Pooled: every half percent, closer together towards both ends.
[[nodiscard]] std::span<const double> pooled_levels();
[[nodiscard]] std::span<const double> process_levels();

// For each level how many iterations it takes to be shown as a percentile (quantile_needs): 1 for the smallest and the
// largest, and for the median of a process, whose value it is.
[[nodiscard]] std::vector<double> pooled_needs();
[[nodiscard]] std::vector<double> process_needs();

struct ProcessDistribution {
  int process = 0, position = 0;  // of its trial
  std::int64_t n = 0;
  std::vector<double> quantiles_s;  // type 7, at process_levels()
  Fences fences_s;
};

struct TimeDistribution {
  std::int64_t n = 0;               // 0: there are no iterations, and nothing else is here
  std::vector<double> quantiles_s;  // type 7, at pooled_levels()
  std::vector<ProcessDistribution> processes;
};

// Of the same iterations as the subject's figures. `times` are sorted ones.
[[nodiscard]] TimeDistribution distribution_of(const SubjectTimes& times);

}  // namespace infermeter
