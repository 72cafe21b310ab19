// SignalSampler: a process that notes where it is itself, at each tick of the kernel's in which it is on a processor
// (ITIMER_PROF, SIGPROF): for where nobody outside may look. The instruction alone: walking a stack inside of a signal
// handler can crash what is measured.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/raw_stacks.hpp"

namespace infermeter {

// Memory that the samples are written to; shared with whoever reads them. Its pages exist as far as they are used.
inline constexpr std::size_t kSignalAreaBytes = std::size_t{8} << 20U;

// One at a time per process. `area`: kSignalAreaBytes, zeroed, and never freed: a signal may come late. The error says
// why it cannot be.
[[nodiscard]] Result<Done> start_signal_sampling(std::span<std::byte> area);
void stop_signal_sampling();

// What is in an area that another process may have written anything to; may be called while it does. In order of time.
[[nodiscard]] std::vector<RawSample> read_signal_samples(std::span<const std::byte> area);

}  // namespace infermeter
