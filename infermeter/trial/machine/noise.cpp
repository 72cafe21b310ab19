#include "infermeter/trial/machine/noise.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "infermeter/trial/machine/cgroup.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/proc_file.hpp"

namespace infermeter {
namespace {

constexpr double least_loop_s = 0.2;
constexpr double least_counted_s = 0.05;
constexpr double counter_steps_s = 0.03;

// Reads up to `Count` blank-separated numbers; nothing if there are fewer than `least`.
template <std::size_t Count>
std::optional<std::array<double, Count>> numbers_of(std::string_view text, std::size_t least) {
  std::array<double, Count> numbers{};
  std::size_t found = 0;
  while (found < Count) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) break;
    numbers[found++] = static_cast<double>(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (found < least) return std::nullopt;
  return numbers;
}

int processor_lines(std::string_view proc_stat) {
  int lines = 0;
  for (std::size_t at = proc_stat.find("\ncpu"); at != std::string_view::npos; at = proc_stat.find("\ncpu", at + 1))
    ++lines;
  return std::max(lines, 1);
}

// Of each group that a quota can stop us in; the first version's folders have links beside them.
std::vector<std::string> cpu_stat_paths() {
  std::vector<std::string> paths;
  for (const std::string& folder : processor_groups()) {
    std::error_code error;
    std::string path = std::filesystem::canonical(folder + "/cpu.stat", error).string();
    if (!error && throttled_s(read_proc_file(path)) && std::ranges::find(paths, path) == paths.end())
      paths.push_back(std::move(path));
  }
  return paths;
}

std::optional<double> mean_frequency_hz() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::nullopt;
  double sum = 0;
  int count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && count < 64; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const auto khz =
        number_after(read_proc_file(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu)), "");
    if (!khz) return std::nullopt;
    sum += static_cast<double>(*khz) * 1000;
    ++count;
  }
  if (count == 0 || sum <= 0) return std::nullopt;
  return sum / count;
}

std::optional<double> hottest_c() {
  std::optional<double> hottest;
  for (int zone = 0; zone < 32; ++zone) {
    const auto millidegrees =
        number_after(read_proc_file(fmt::format("/sys/class/thermal/thermal_zone{}/temp", zone)), "");
    if (!millidegrees) break;
    hottest = std::max(hottest.value_or(0), static_cast<double>(*millidegrees) / 1000);
  }
  return hottest;
}

template <class T>
std::optional<double> difference(const std::optional<T>& later, const std::optional<T>& earlier) {
  if (!later || !earlier) return std::nullopt;
  return std::max(0.0, static_cast<double>(*later - *earlier));
}

}  // namespace

double jiffy_s() { return 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

std::optional<MachineTime> machine_time(std::string_view proc_stat, double jiffy) {
  if (!proc_stat.starts_with("cpu ")) return std::nullopt;
  // user nice system idle iowait irq softirq steal
  const auto fields = numbers_of<8>(proc_stat.substr(4), 4);
  if (!fields) return std::nullopt;
  const auto& f = *fields;
  return MachineTime{.busy_s = (f[0] + f[1] + f[2] + f[5] + f[6]) * jiffy,
                     .steal_s = f[7] * jiffy,
                     .processors = processor_lines(proc_stat)};
}

std::optional<double> process_time_s(std::string_view stat, double jiffy) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 > stat.size()) return std::nullopt;
  // After the name: state, then ppid … with utime the 11th and stime the 12th number.
  const auto fields = numbers_of<12>(stat.substr(name_end + 3), 12);
  if (!fields) return std::nullopt;
  return ((*fields)[10] + (*fields)[11]) * jiffy;
}

std::optional<double> throttled_s(std::string_view cpu_stat) {
  if (const auto us = number_after(cpu_stat, "throttled_usec")) return static_cast<double>(*us) * 1e-6;
  if (const auto ns = number_after(cpu_stat, "throttled_time")) return static_cast<double>(*ns) * 1e-9;
  return std::nullopt;
}

NoiseProbe::NoiseProbe(int launcher)
    : launcher_stat_(launcher > 0 ? fmt::format("/proc/{}/stat", launcher) : std::string()),
      cpu_stats_(cpu_stat_paths()) {}

NoiseReading NoiseProbe::before() const {
  NoiseReading reading;
  read_slow(reading);
  read_quick(reading);
  return reading;
}

NoiseReading NoiseProbe::after() const {
  NoiseReading reading;
  read_quick(reading);
  read_slow(reading);
  return reading;
}

NoiseReading NoiseProbe::quick() const {
  NoiseReading reading;
  read_quick(reading);
  return reading;
}

void NoiseProbe::read_slow(NoiseReading& reading) const {
  reading.frequency_hz = mean_frequency_hz();
  reading.temperature_c = hottest_c();
  for (const std::string& path : cpu_stats_)
    if (const auto stopped_s = throttled_s(read_proc_file(path)))
      reading.throttled_s = reading.throttled_s.value_or(0) + *stopped_s;
  if (const auto us = number_after(read_proc_file("/proc/pressure/cpu"), "total="))
    reading.pressure_s = static_cast<double>(*us) * 1e-6;
}

void NoiseProbe::read_quick(NoiseReading& reading) const {
  reading.machine = machine_time(read_proc_file("/proc/stat"), jiffy_s());
  if (!launcher_stat_.empty()) reading.launcher_s = process_time_s(read_proc_file(launcher_stat_), jiffy_s());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  reading.own_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  reading.involuntary = usage.ru_nivcsw;
  reading.voluntary = usage.ru_nvcsw;
  reading.major_faults = usage.ru_majflt;
  reading.minor_faults = usage.ru_minflt;
  reading.at_s = monotonic_s();
}

const NoiseReading& counted_from(const NoiseReading& before, const NoiseReading& after, const NoiseReading& start) {
  return after.at_s - before.at_s < least_loop_s && start.machine ? start : before;
}

NoiseRecord noise_between(const NoiseReading& before, const NoiseReading& after, const NoiseReading& start) {
  NoiseRecord noise;
  const double wall_s = after.at_s - before.at_s;
  noise.involuntary_switches = after.involuntary - before.involuntary;
  noise.voluntary_switches = after.voluntary - before.voluntary;
  noise.major_faults = after.major_faults - before.major_faults;
  noise.minor_faults = after.minor_faults - before.minor_faults;
  noise.frequency_before_hz = before.frequency_hz;
  noise.frequency_after_hz = after.frequency_hz;
  noise.temperature_before_c = before.temperature_c;
  noise.temperature_after_c = after.temperature_c;
  noise.throttled_s = difference(after.throttled_s, before.throttled_s);
  noise.threads = thread_count();
  noise.processors = usable_processors();
  if (!(wall_s > 0)) return noise;
  const double own_s = after.own_s - before.own_s;
  noise.own_cpu = own_s / wall_s;
  if (const auto waited = difference(after.pressure_s, before.pressure_s))
    noise.pressure_cpu = std::min(1.0, *waited / wall_s);
  const NoiseReading& from = counted_from(before, after, start);
  const double counted_s = after.at_s - from.at_s;
  if (counted_s < (&from == &before ? least_loop_s : least_counted_s) || !from.machine || !after.machine) return noise;
  const double launcher_s = difference(after.launcher_s, from.launcher_s).value_or(0);
  const double busy_s = after.machine->busy_s - from.machine->busy_s;
  noise.foreign_cpu = std::max(0.0, busy_s - (after.own_s - from.own_s) - launcher_s) / counted_s;
  noise.steal = std::max(0.0, after.machine->steal_s - from.machine->steal_s) / (counted_s * after.machine->processors);
  return noise;
}

std::vector<Diagnostic> diagnose_noise(const NoiseRecord& noise, double loop_s, int threads_asked, double counted_s) {
  std::vector<Diagnostic> found;
  const char* const when = counted_s > loop_s ? "up to the end of the timed loop" : "during the timed loop";
  const auto add = [&](DiagnosticId id, std::string message) { found.push_back({id, std::move(message), {}}); };
  if (noise.foreign_cpu && *noise.foreign_cpu > 0.05 + counter_steps_s / std::max(loop_s, counted_s))
    add(DiagnosticId::foreign_load,
        fmt::format("other programs used {:.0f} % of a processor {}", *noise.foreign_cpu * 100, when));
  if (noise.steal && *noise.steal > 0.02)
    add(DiagnosticId::steal,
        fmt::format("the hypervisor took {:.1f} % of the processors' time {}", *noise.steal * 100, when));
  if (noise.throttled_s && *noise.throttled_s > 0)
    add(DiagnosticId::throttled,
        fmt::format("a CPU quota stopped the worker for {:.3f} s of {:.3f} s", *noise.throttled_s, loop_s));
  if (noise.major_faults && *noise.major_faults > 0)
    add(DiagnosticId::major_faults,
        fmt::format("{} pages had to be read from disk during the timed loop", *noise.major_faults));
  if (noise.involuntary_switches && static_cast<double>(*noise.involuntary_switches) > std::max(50 * loop_s, 5.0))
    add(DiagnosticId::involuntary_switches, fmt::format("the worker was taken off its processors {} times in {:.3f} s",
                                                        *noise.involuntary_switches, loop_s));
  if (noise.frequency_before_hz && noise.frequency_after_hz) {
    const double change = *noise.frequency_after_hz / *noise.frequency_before_hz - 1;
    if (change > 0.05 || change < -0.05)
      add(DiagnosticId::frequency_changed,
          fmt::format("the processors' frequency went from {:.0f} to {:.0f} MHz during the timed loop",
                      *noise.frequency_before_hz * 1e-6, *noise.frequency_after_hz * 1e-6));
  }
  if (noise.processors && threads_asked > *noise.processors)
    add(DiagnosticId::more_threads_than_cores,
        fmt::format("{} threads were asked for on {} processors", threads_asked, *noise.processors));
  return found;
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // More processors than a cpu_set_t has room for: ask the C library instead.
  const int allowed =
      sched_getaffinity(0, sizeof set, &set) != 0 ? static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) : CPU_COUNT(&set);
  const auto quota = processor_quota();
  return std::max(1, quota ? std::min(allowed, whole_processors(*quota)) : allowed);
}

std::optional<std::int64_t> thread_count() {
  const auto threads = number_after(read_proc_file("/proc/self/status"), "Threads:");
  if (!threads) return std::nullopt;
  return static_cast<std::int64_t>(*threads);
}

}  // namespace infermeter
