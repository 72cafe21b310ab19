#include <algorithm>
#include <charconv>

#include "infermeter/machine/machine.hpp"
#include "infermeter/machine/machine_parts.hpp"
#include "infermeter/trial/machine/cgroup.hpp"
#include "infermeter/version.hpp"

namespace infermeter {
namespace {

std::optional<double> first_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

void read_virtualization(Environment& environment, const SystemFolder& system) {
  const std::string vendor = system.text("/sys/class/dmi/id/sys_vendor");
  if (!environment.virtualization.empty() && !vendor.empty()) environment.virtualization += " (" + vendor + ")";
  if (system.exists("/.dockerenv") || system.exists("/run/.containerenv")) {
    environment.virtualization += environment.virtualization.empty() ? "container" : ", container";
  }
}

}  // namespace

void read_memory(Environment& environment, const SystemFolder& system) {
  const auto bytes = [&](std::string_view key) { return kernel_bytes(system.field("/proc/meminfo", key)); };
  environment.memory_total_bytes = bytes("MemTotal");
  environment.memory_available_bytes = bytes("MemAvailable");
  environment.swap_used_bytes = bytes("SwapTotal") - std::min(bytes("SwapTotal"), bytes("SwapFree"));
}

void read_system(Environment& environment, const SystemFolder& system) {
  environment.distribution = system.field("/etc/os-release", "PRETTY_NAME");
  environment.load_1min = first_number(system.text("/proc/loadavg"));
  if (const auto value = system.number("/proc/sys/kernel/randomize_va_space"))
    environment.aslr = static_cast<int>(*value);
  if (const auto value = system.number("/proc/sys/kernel/perf_event_paranoid")) {
    environment.perf_event_paranoid = static_cast<int>(*value);
  }
  environment.cgroup_v2 = system.exists("/sys/fs/cgroup/cgroup.controllers");
  environment.quota_processors = processor_quota(system.root());
  read_virtualization(environment, system);
}

Environment read_environment(const std::filesystem::path& root) {
  const SystemFolder files(root);
  Environment environment;
  environment.infermeter_version = INFERMETER_VERSION;
  environment.build = INFERMETER_BUILD;
  read_processor(environment, files);
  read_memory(environment, files);
  read_system(environment, files);
  if (files.is_this_machine()) probe_kernel(environment);
  return environment;
}

}  // namespace infermeter
