// How many iterations a process should make, where the number of processes is free.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace infermeter {

// Lag-1 autocorrelation; 0 for fewer than three values or no spread.
[[nodiscard]] double autocorrelation(std::span<const double> values);

struct IterationChoice {
  std::int64_t iterations = 0;    // per process, in 10 … 200
  double within_variance = 0;     // T²within: of one iteration's log time in a process
  double between_variance = 0;    // T²between = S²between − S²within / k, not below 0
  double autocorrelation = 0;     // mean over processes, not below 0
};

// k = √((c_process / c_iteration) · T²within / T²between), times (1 + ρ) / (1 − ρ) … the source decides (see .cpp)
// (Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013). `pilots`: log times of the steady iterations
// of each pilot process, at least two processes of at least two. Costs in seconds. `least`: a metric's own minimum.
[[nodiscard]] IterationChoice choose_iterations(std::span<const std::vector<double>> pilots, double process_cost_s,
                                                double iteration_cost_s, std::int64_t least = 10);

}  // namespace infermeter
