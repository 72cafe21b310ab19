// Noise: what disturbed a timed loop, read from the kernel's counters before and after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Processor seconds of the whole machine since it started: the first line of /proc/stat (proc(5)).
struct MachineTime {
  double busy_s = 0;  // user, nice, system, irq, softirq; guests are in user
  double steal_s = 0;
  int processors = 1;  // lines "cpuN"
};
[[nodiscard]] std::optional<MachineTime> machine_time(std::string_view proc_stat, double jiffy_s);
// utime + stime of /proc/PID/stat, whose second field may hold blanks and parentheses.
[[nodiscard]] std::optional<double> process_time_s(std::string_view proc_pid_stat, double jiffy_s);
// Stopped by a CPU quota: throttled_usec (cgroup v2) or throttled_time in ns (v1) of cpu.stat.
[[nodiscard]] std::optional<double> throttled_s(std::string_view cpu_stat);

struct NoiseReading {
  double at_s = 0;  // monotonic
  std::optional<MachineTime> machine;
  std::optional<double> launcher_s;
  double own_s = 0;
  std::int64_t involuntary = 0, voluntary = 0, major_faults = 0, minor_faults = 0;
  std::optional<double> pressure_s;
  std::optional<double> throttled_s;
  std::optional<double> frequency_hz, temperature_c;
};

class NoiseProbe {
 public:
  // `launcher`: the process that waits for this one and whose own time is not foreign; 0: there is none.
  explicit NoiseProbe(int launcher);
  // What is slow to read is read farthest from the loop.
  [[nodiscard]] NoiseReading before() const;
  [[nodiscard]] NoiseReading after() const;

 private:
  void read_slow(NoiseReading& reading) const;
  void read_quick(NoiseReading& reading) const;

  std::string launcher_stat_;  // path
  std::string cpu_stat_;       // path of our cgroup's; empty: none
};

// Foreign CPU is nothing for loops under 0.2 s: the kernel's counters move in steps of 10 ms.
[[nodiscard]] NoiseRecord noise_between(const NoiseReading& before, const NoiseReading& after);

// Thresholds; each diagnostic carries the figure.
//   foreign_load          more than 5 % of a processor, and 30 ms of it (three steps of the counters) in all
//   steal                 more than 2 % of the time of all processors
//   throttled             at all
//   major_faults          any
//   involuntary_switches  more than 50 a second (an idle kernel takes a busy thread off a few times a second)
//   frequency_changed     by more than 5 %
//   more_threads_than_cores  asked for more threads than processors may be used
[[nodiscard]] std::vector<Diagnostic> diagnose_noise(const NoiseRecord& noise, double loop_s, int threads_asked);

[[nodiscard]] int usable_processors();                     // in the affinity mask
[[nodiscard]] std::optional<std::int64_t> thread_count();  // of this process

}  // namespace infermeter
