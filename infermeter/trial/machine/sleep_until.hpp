// Sleeping until a moment of a fine clock.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace infermeter {

// Sleeps until the moment, or where it may spin until shortly before: on shared processors a thread that spins takes
// the time of what it is to measure.
struct SleepUntil {
  // A thread whose sleep has ended runs so much later, most often.
  static constexpr double spin_s = 200e-6;
  double tick_s = 1e-9;

  template <class Clock, class IsOver, class MaySpin>
  [[nodiscard]] bool until(const Clock& clock, std::uint64_t moment, const IsOver& is_over,
                           const MaySpin& may_spin) const {
    constexpr double longest_s = 0.05;
    for (;;) {
      const std::uint64_t now = clock.now();
      if (now >= moment) return true;
      if (is_over()) return false;
      const double left_s = static_cast<double>(moment - now) * tick_s - (may_spin() ? spin_s : 0);
      if (left_s > 0) sleep_for(std::min(left_s, longest_s));
    }
  }

  // The kernel may round a sleep up by the thread's timer slack, usually 50 us; not of this thread from now on.
  static void be_exact() {
    thread_local const bool is_exact = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
    static_cast<void>(is_exact);
  }

  static void sleep_for(double seconds) {
    be_exact();
    timespec wanted{};
    wanted.tv_sec = static_cast<time_t>(seconds);
    wanted.tv_nsec = static_cast<long>((seconds - static_cast<double>(wanted.tv_sec)) * 1e9);
    nanosleep(&wanted, nullptr);  // whoever is woken early looks at the clock
  }
};

}  // namespace infermeter
