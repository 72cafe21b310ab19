#include "infermeter/trial/machine/calibration.hpp"

namespace infermeter {

std::int64_t realtime_ahead_ns() {
  struct RealtimeClock {
    [[nodiscard]] std::uint64_t now() const {
      timespec t{};
      clock_gettime(CLOCK_REALTIME, &t);
      return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
    }
  };
  const ClockPair pair = read_pair(RealtimeClock{}, MonotonicClock{});
  return static_cast<std::int64_t>(pair.ticks - pair.monotonic_ns);
}

ClockKind best_clock() { return has_invariant_tsc() ? ClockKind::tsc : ClockKind::monotonic; }

const char* clock_name(ClockKind kind) { return kind == ClockKind::tsc ? "tsc" : "monotonic"; }

ClockPair read_pair(ClockKind kind) {
#if defined(__x86_64__)
  if (kind == ClockKind::tsc) return read_pair(TscClock{}, MonotonicClock{});
#else
  static_cast<void>(kind);
#endif
  const std::uint64_t now = MonotonicClock{}.now();
  return {now, now};
}

TickScale scale_between(ClockKind kind, const ClockPair& first, const ClockPair& last) {
  TickScale scale{.tick_s = 1e-9, .origin_ticks = first.ticks};
  if (kind != ClockKind::tsc || last.ticks <= first.ticks || last.monotonic_ns <= first.monotonic_ns) return scale;
  const auto elapsed_s = static_cast<double>(last.monotonic_ns - first.monotonic_ns) * 1e-9;
  scale.tick_s = elapsed_s / static_cast<double>(last.ticks - first.ticks);
  return scale;
}

std::uint64_t TickScale::ticks_for(double duration_s) const {
  const double ticks = duration_s / tick_s;
  if (!(ticks > 0)) return 0;
  return ticks < 1e18 ? static_cast<std::uint64_t>(ticks + 0.5) : UINT64_MAX;
}

}  // namespace infermeter
