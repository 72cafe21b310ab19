#include <linux/perf_event.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "infermeter/machine/machine_parts.hpp"

namespace infermeter {
namespace {

int allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

// Many virtual machines have the system call and no counters behind it: only trying tells.
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

void probe_kernel(Environment& environment) {
  utsname names{};
  if (uname(&names) == 0) {
    environment.architecture = names.machine;
    environment.kernel = names.release;
    environment.hostname = names.nodename;
  }
  const int allowed = allowed_processors();
  const int quota =
      environment.quota_processors ? std::max(1, static_cast<int>(std::ceil(*environment.quota_processors))) : allowed;
  environment.processors_usable = std::min(allowed, quota);
  environment.hardware_counters = can_count_cycles();
  environment.landlock_abi = landlock_version();
  environment.seccomp = prctl(PR_GET_SECCOMP) >= 0;
}

}  // namespace infermeter
