// Processes that were measured without a profiler, in a trace: their iterations, or the requests of a load.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "infermeter/profile/write/trace.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct MeasuredSource {
  std::string subject;  // as reports call it; hostile
  const Samples* samples = nullptr;
};

// A trace has at most that many of all measured processes together, the first ones of each; the others are counted in
// TraceProcess::not_shown.
inline constexpr std::size_t kMostTracedIterations = 250'000;

// One after the other on a track; requests that were in flight at once on a track each ("requests 2").
[[nodiscard]] std::vector<TraceProcess> measured_processes(const std::vector<MeasuredSource>& sources);

}  // namespace infermeter
