// Sleeping until a moment of a fine clock.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace infermeter {

// Sleeps, and spins over the last microseconds only: on shared processors a thread that spins longer takes the time of
// what it is to measure.
struct SleepUntil {
  double tick_s = 1e-9;

  template <class Clock, class IsOver>
  [[nodiscard]] bool until(const Clock& clock, std::uint64_t moment, const IsOver& is_over) const {
    constexpr double spin_s = 20e-6, longest_s = 0.05;
    for (;;) {
      const std::uint64_t now = clock.now();
      if (now >= moment) return true;
      if (is_over()) return false;
      const double left_s = static_cast<double>(moment - now) * tick_s;
      if (left_s > spin_s) sleep_for(std::min(left_s, longest_s));
    }
  }

  // The kernel may round a sleep up by the thread's timer slack, usually 50 us.
  static void sleep_for(double seconds) {
    thread_local const bool is_exact = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
    static_cast<void>(is_exact);
    timespec wanted{};
    wanted.tv_sec = static_cast<time_t>(seconds);
    wanted.tv_nsec = static_cast<long>((seconds - static_cast<double>(wanted.tv_sec)) * 1e9);
    nanosleep(&wanted, nullptr);  // whoever is woken early looks at the clock
  }
};

}  // namespace infermeter
