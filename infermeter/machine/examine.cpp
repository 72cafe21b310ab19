#include <fmt/format.h>

#include "infermeter/machine/machine.hpp"

namespace infermeter {
namespace {

constexpr double busy_share = 0.25;  // of a processor, by the load average
constexpr std::uint64_t little_memory = 2'000'000'000;
constexpr double gigabyte = 1e9;

class Findings {
 public:
  void add(bool found, DiagnosticId id, std::string message) {
    if (found) list_.push_back({.id = id, .message = std::move(message), .about = {}});
  }
  [[nodiscard]] std::vector<Diagnostic> take() && { return std::move(list_); }

 private:
  std::vector<Diagnostic> list_;
};

void examine_disturbances(Findings& findings, const Environment& machine) {
  findings.add(machine.build.starts_with("Debug"), DiagnosticId::debug_build,
               fmt::format("this infermeter is a debug build ({})", machine.build));
  findings.add(machine.load_1min && *machine.load_1min > busy_share, DiagnosticId::high_load,
               fmt::format("the load average of the last minute is {:.2f} on {} processors",
                           machine.load_1min.value_or(0), machine.processors_online));
  findings.add(
      machine.swap_used_bytes > 0, DiagnosticId::swap_in_use,
      fmt::format("{:.1f} GB of memory are swapped out", static_cast<double>(machine.swap_used_bytes) / gigabyte));
  findings.add(machine.memory_available_bytes > 0 && machine.memory_available_bytes < little_memory,
               DiagnosticId::low_memory,
               fmt::format("only {:.1f} GB of memory are available",
                           static_cast<double>(machine.memory_available_bytes) / gigabyte));
  findings.add(machine.governor && *machine.governor != "performance", DiagnosticId::governor_not_performance,
               fmt::format("the frequency governor is '{}'", machine.governor.value_or("")));
}

void examine_nature(Findings& findings, const Environment& machine) {
  findings.add(machine.processors_usable > 0 && machine.processors_usable < 4, DiagnosticId::few_cores,
               fmt::format("{} of {} processors can be used", machine.processors_usable, machine.processors_online));
  findings.add(machine.turbo.value_or(false), DiagnosticId::turbo_enabled,
               "the processor may exceed its nominal frequency (turbo)");
  findings.add(machine.smt_active, DiagnosticId::smt_enabled, "two threads share a core (SMT)");
  findings.add(!machine.virtualization.empty(), DiagnosticId::virtual_machine,
               fmt::format("this is a {}", machine.virtualization));
  findings.add(machine.aslr.value_or(2) == 0, DiagnosticId::aslr_disabled, "address-space randomisation is off");
  findings.add(machine.architecture == "x86_64" && !machine.invariant_tsc, DiagnosticId::clock_not_tsc,
               "the processor has no invariant time stamp counter");
  findings.add(!machine.hardware_counters, DiagnosticId::no_hardware_counters,
               fmt::format("hardware counters cannot be read (perf_event_paranoid is {})",
                           machine.perf_event_paranoid ? fmt::format("{}", *machine.perf_event_paranoid) : "unknown"));
  findings.add(!machine.landlock_abi, DiagnosticId::no_landlock, "the kernel has no Landlock");
  findings.add(!machine.seccomp, DiagnosticId::no_seccomp, "the kernel has no seccomp filters");
}

}  // namespace

std::vector<Diagnostic> examine(const Environment& environment) {
  Findings findings;
  examine_disturbances(findings, environment);
  examine_nature(findings, environment);
  return std::move(findings).take();
}

}  // namespace infermeter
