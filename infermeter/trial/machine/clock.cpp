#include "infermeter/trial/machine/clock.hpp"

#include <array>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "infermeter/trial/machine/calibration.hpp"

namespace infermeter {
namespace {

double seconds_of(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// CPUID Fn8000_0007 EDX bit 8 (AMD APM vol. 3; Intel SDM vol. 3B 18.17.1): constant rate in all P-, C- and T-states.
bool processor_says_invariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#else
  return false;
#endif
}

// The kernel watches the counter against other clocks and leaves it when processors disagree; its choice is the only
// evidence from user space that all processors show the same count.
bool kernel_uses_it() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  file >> name;
  return name == "tsc" || name == "kvm-clock" || name == "hyperv_clocksource_tsc_page";
}

}  // namespace

bool has_invariant_tsc() {
  static const bool answer = processor_says_invariant() && kernel_uses_it();
  return answer;
}

double wall_clock_s() { return seconds_of(CLOCK_REALTIME); }
double monotonic_s() { return seconds_of(CLOCK_MONOTONIC); }
double thread_time_s() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

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
