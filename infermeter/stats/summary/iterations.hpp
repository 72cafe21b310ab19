// How many iterations a process should make, where the number of processes is free.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace infermeter {

// Lag-1 autocorrelation; 0 for fewer than three values or no spread.
[[nodiscard]] double autocorrelation(std::span<const double> values);

struct IterationChoice {
  std::int64_t iterations = 0;  // per process, in max(10, least) … 200; `least` where that is more than 200
  double within_variance = 0;   // T²within: of one iteration's log time in a process
  double between_variance = 0;  // T²between = S²between − S²within g / k, not below 0; g: see .cpp
  double autocorrelation = 0;   // mean over processes, corrected for its bias, not below 0
};

// k = √((c_process / c_iteration) · g T²within / T²between), g = (1 + ρ) / (1 − ρ) (Kalibera & Jones, "Rigorous
// benchmarking in reasonable time", ISMM 2013, with independent iterations, g = 1). `pilots`: log times of the steady
// iterations of each pilot process; those with fewer than two count for nothing. With fewer than two processes, and
// where iterations do not differ, the fewest; where only iterations differ, the most. Costs in seconds:
// `process_cost_s` of a process without its measured iterations. `least`: a metric's own minimum.
[[nodiscard]] IterationChoice choose_iterations(std::span<const std::vector<double>> pilots, double process_cost_s,
                                                double iteration_cost_s, std::int64_t least = 10);

}  // namespace infermeter
