// Clocks. The only place that reads one; everything else gets a clock, or times, by parameter.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace infermeter {

// CLOCK_MONOTONIC in nanoseconds.
struct MonotonicClock {
  static constexpr const char* name = "monotonic";
  [[nodiscard]] std::uint64_t now() const {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
  }
};

#if defined(__x86_64__)
// The time stamp counter, where it is invariant (constant rate, never stops). Fenced on both sides: the read waits for
// what is before it and nothing after it begins before it (Paoloni 2010, "How to Benchmark Code Execution Times on
// Intel IA-32 and IA-64"; lfence is serialising on AMD since the kernel sets DE_CFG[1]).
struct TscClock {
  static constexpr const char* name = "tsc";
  [[nodiscard]] std::uint64_t now() const {
    _mm_lfence();
    const std::uint64_t ticks = __rdtsc();
    _mm_lfence();
    return ticks;
  }
};
#endif

[[nodiscard]] bool has_invariant_tsc();

// Seconds since 1970, UTC.
[[nodiscard]] double wall_clock_s();
// Seconds of CLOCK_MONOTONIC.
[[nodiscard]] double monotonic_s();
// Seconds that this thread has been on a processor.
[[nodiscard]] double thread_time_s();

}  // namespace infermeter
