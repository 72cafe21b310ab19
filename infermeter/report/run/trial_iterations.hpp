// The iterations of a trial as a report holds them: all, exactly, or what a picture can show of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct IterationTimes {
  std::vector<double> begin_s, latency_s;  // of equal lengths, in order
};
struct TrialIterations {
  IterationTimes warmup, timed;
  std::vector<double> memory_bytes;  // after each of `timed`; empty: not asked for
  std::vector<MemoryPoint> memory_timeline;
  bool of_load = false;  // with the record of a load, its histograms included
};

[[nodiscard]] TrialIterations all_iterations(const Samples& trial);

// For pictures, with the digits that one can show: latencies to six significant digits, not beyond a nanosecond; begins
// to about a hundredth of a usual iteration, not beyond a microsecond. Of each list at most about `share`, thinned as
// below; memory with the iterations that it belongs to, by its own extremes and theirs.
[[nodiscard]] TrialIterations drawn_iterations(const Samples& trial, double share);

// The same for memory over the trial's life: at most kDrawnMemoryPoints, each phase with its ends and its extremes.
inline constexpr std::size_t kDrawnMemoryPoints = 60;
[[nodiscard]] std::vector<MemoryPoint> drawn_memory(std::span<const MemoryPoint> points);

// Which values to keep so that about `count` are left: ascending indices with the first, the last, and the smallest and
// the largest of each of equally long stretches, so that what stands out stays and nothing is invented. All, where
// there are no more than `count`, and never fewer than four (as far as there are).
[[nodiscard]] std::vector<std::size_t> thinned(std::span<const double> values, std::size_t count);

}  // namespace infermeter
