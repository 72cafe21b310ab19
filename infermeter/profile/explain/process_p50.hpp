// Medians of latencies, process by process. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct ProcessP50 {
  int process = 0;
  double p50_s = 0;
};
// Of the trials that ended well; where there is none, of the others. Durations that are not finite and positive are no
// latencies: they are left out.
[[nodiscard]] std::vector<ProcessP50> process_p50s(std::span<const Samples* const> trials);

// The geometric mean over processes, as latency_p50 is. nullopt: there are none.
[[nodiscard]] std::optional<double> p50_of(std::span<const Samples* const> trials);

}  // namespace infermeter
