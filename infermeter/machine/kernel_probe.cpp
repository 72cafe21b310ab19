#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "infermeter/machine/machine.hpp"
#include "infermeter/machine/machine_parts.hpp"
#include "infermeter/trial/machine/noise.hpp"

namespace infermeter {
namespace {

// Many virtual machines have the system call and no counters behind it: only trying shows.
bool can_count_cycles() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL);
  if (descriptor < 0) return false;
  close(static_cast<int>(descriptor));
  return true;
}

std::optional<int> landlock_version() {
  constexpr unsigned version_flag =
      1;  // LANDLOCK_CREATE_RULESET_VERSION; headers of Debian 12 know it, older ones do not
  constexpr long create_ruleset = 444;  // the same number on every architecture
  const long version = syscall(create_ruleset, nullptr, 0UL, version_flag);
  return version > 0 ? std::optional<int>(static_cast<int>(version)) : std::nullopt;
}

}  // namespace

std::string host_name() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "";
}

void probe_kernel(Environment& environment) {
  utsname names{};
  if (uname(&names) == 0) {
    environment.architecture = names.machine;
    environment.kernel = names.release;
  }
  environment.hostname = host_name();
  environment.processors_usable = usable_processors();
  environment.hardware_counters = can_count_cycles();
  environment.landlock_abi = landlock_version();
  environment.seccomp = prctl(PR_GET_SECCOMP) >= 0;
}

}  // namespace infermeter
