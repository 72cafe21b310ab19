#include "infermeter/trial/machine/clock.hpp"

#include <array>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

}  // namespace infermeter
