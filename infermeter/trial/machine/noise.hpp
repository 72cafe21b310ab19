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
[[nodiscard]] double jiffy_s();  // the unit of those counters
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
  // The counters of the processors alone.
  [[nodiscard]] NoiseReading quick() const;

 private:
  void read_slow(NoiseReading& reading) const;
  void read_quick(NoiseReading& reading) const;

  std::string launcher_stat_;           // path
  std::vector<std::string> cpu_stats_;  // paths, of our control groups
};

// The kernel's counters of the processors move in steps of 10 ms. For a loop of less than 0.2 s, foreign CPU and steal
// are those from `start`, when the worker began, to the loop's end; and nothing where that took less than 0.05 s.
[[nodiscard]] NoiseRecord noise_between(const NoiseReading& before, const NoiseReading& after,
                                        const NoiseReading& start);
// From where they are counted.
[[nodiscard]] const NoiseReading& counted_from(const NoiseReading& before, const NoiseReading& after,
                                               const NoiseReading& start);

// Thresholds; each diagnostic carries the figure.
//   foreign_load          more than 5 % of a processor, and 30 ms of it (three steps of the counters) in all
//   steal                 more than 2 % of the time of all processors
//   throttled             at all
//   major_faults          any
//   involuntary_switches  more than 50 a second (an idle kernel takes a busy thread off a few times a second)
//   frequency_changed     by more than 5 %
//   more_threads_than_cores  asked for more threads than processors may be used
// `counted_s`: what foreign CPU and steal are of, if that is longer than the loop.
[[nodiscard]] std::vector<Diagnostic> diagnose_noise(const NoiseRecord& noise, double loop_s, int threads_asked,
                                                     double counted_s = 0);

[[nodiscard]] int usable_processors();                     // affinity mask and cgroup quota respected
[[nodiscard]] std::optional<std::int64_t> thread_count();  // of this process

}  // namespace infermeter
