// Calibration: ticks of a fine clock become seconds through two pairs of readings, one before and one after a trial.
// Nothing waits for it: the longer the trial, the better the scale.
#pragma once

#include <cstdint>

#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {

enum class ClockKind : std::uint32_t { monotonic = 1, tsc = 2 };

// The time stamp counter where it can be believed, else the monotonic clock.
[[nodiscard]] ClockKind best_clock();
[[nodiscard]] const char* clock_name(ClockKind kind);

// The same moment on both clocks.
struct ClockPair {
  std::uint64_t monotonic_ns = 0;
  std::uint64_t ticks = 0;
};

// The tightest of several attempts: what lies between the two monotonic readings bounds the error of the pair.
template <class Clock, class Reference>
[[nodiscard]] ClockPair read_pair(const Clock& clock, const Reference& reference) {
  constexpr int attempts = 8;
  ClockPair best;
  std::uint64_t best_gap = UINT64_MAX;
  for (int i = 0; i < attempts; ++i) {
    const std::uint64_t before = reference.now();
    const std::uint64_t ticks = clock.now();
    const std::uint64_t gap = reference.now() - before;
    if (gap < best_gap) {
      best_gap = gap;
      best = {before + gap / 2, ticks};
    }
  }
  return best;
}

[[nodiscard]] ClockPair read_pair(ClockKind kind);
// CLOCK_REALTIME - CLOCK_MONOTONIC, of the tightest of several pairs of readings.
[[nodiscard]] std::int64_t realtime_ahead_ns();

// Ticks -> seconds since `origin`.
struct TickScale {
  double tick_s = 1e-9;
  std::uint64_t origin_ticks = 0;

  // Ticks before the origin (a block that was overwritten) come out negative.
  [[nodiscard]] double seconds(std::uint64_t ticks) const {
    return static_cast<double>(static_cast<std::int64_t>(ticks - origin_ticks)) * tick_s;
  }
  [[nodiscard]] std::uint64_t ticks_for(double duration_s) const;
};

[[nodiscard]] TickScale scale_between(ClockKind kind, const ClockPair& first, const ClockPair& last);

// Ticks of one reading: the smallest mean of several runs of readings, as anything else only adds to it.
template <class Clock>
[[nodiscard]] double read_cost_ticks(const Clock& clock) {
  constexpr int runs = 16;
  constexpr int readings = 64;
  std::uint64_t best = UINT64_MAX;
  for (int run = 0; run < runs; ++run) {
    const std::uint64_t begin = clock.now();
    std::uint64_t end = begin;
    for (int i = 0; i < readings; ++i) end = clock.now();
    if (end - begin < best) best = end - begin;
  }
  return static_cast<double>(best) / readings;
}

}  // namespace infermeter
