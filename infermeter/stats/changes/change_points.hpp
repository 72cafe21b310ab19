// Change points in a series of runs: one value per run, ordered by date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infermeter/stats/changes/change_point.hpp"

namespace infermeter {

struct ChangeOptions {
  double alpha = 0.01;
  double smallest_change = 0.01;  // relative
  std::size_t least = 3;          // runs on each side
  std::uint64_t seed = 1;
  int permutations = 199;
};

// What either of two detectors sees: the scan for levels (level_scan.hpp), which needs three runs of a new level, and
// E-divisive (e_divisive.hpp), which sees bumps and needs no normal noise. Not only what both see: permutations in
// blocks cannot tell three runs from chance. A point stands where least squares divides its two levels, and is left out
// if they differ by less than smallest_change, or if it is one outlier at an end. Simulated, n = 50: points in 0.7 % of
// the series of independent runs and in 4 % of AR(1) ones with φ = 0.5; a step of 4 standard deviations is found within
// three runs in 98 %. Ascending by index. `logs`: natural logarithms of the values, finite; alpha: 0.01 or 0.05.
[[nodiscard]] std::vector<ChangePoint> find_change_points(std::span<const double> logs,
                                                          const ChangeOptions& options = {});

// The runs between two change points.
struct Level {
  std::size_t begin = 0, end = 0;  // half open
  double mean_log = 0;
  double sd = 0;  // of logarithms, with n − 1; 0 for a single run
};

// One more than there are change points; none for an empty series.
[[nodiscard]] std::vector<Level> levels_of(std::span<const double> logs, std::span<const ChangePoint> change_points);

}  // namespace infermeter
