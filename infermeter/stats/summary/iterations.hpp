// How many iterations a process should make, where the number of processes is free.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace infermeter {

// Lag-1 autocorrelation; 0 for fewer than three values or no spread.
[[nodiscard]] double autocorrelation(std::span<const double> values);

// The pilots of one subject.
struct PilotTimes {
  std::span<const std::vector<double>> logs;  // of the steady iterations' times, for each process
  double process_cost_s = 0;                  // of a process without its measured iterations
  double iteration_cost_s = 0;
};

struct IterationChoice {
  std::int64_t iterations = 0;  // per process, in max(10, least) … 200; `least` where that is more than 200
  double within_variance = 0;   // T²within: of one iteration's log time in a process; mean over subjects, as all below
  double between_variance = 0;  // T²between = S²between − S²within g / k, not below 0; g: see .cpp
  double autocorrelation = 0;   // mean over processes, corrected for its bias, not below 0
};

// k = √((c_process / c_iteration) · g T²within / T²between), g = (1 + ρ) / (1 − ρ) (Kalibera & Jones, "Rigorous
// benchmarking in reasonable time", ISMM 2013, with independent iterations, g = 1), for a process of each subject:
// costs and variances are summed over the subjects. T²between is taken to be at least a quarter of S²between: a few
// pilots estimate it as nothing, by chance, where it is not. Processes with fewer than two iterations count for
// nothing, nor do subjects with fewer than two such processes. Without a subject, and where iterations do not differ,
// the fewest; where only iterations differ, the most. `least`: a metric's own minimum.
[[nodiscard]] IterationChoice choose_iterations(std::span<const PilotTimes> subjects, std::int64_t least = 10);

}  // namespace infermeter
