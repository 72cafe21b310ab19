// Environment: the machine a run was made on, as far as it can change a result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace infermeter {

struct Cache {
  std::string kind;  // "L1d", "L2", "L3"
  std::uint64_t size_bytes = 0;
  int shared_by = 1;  // processors
};

struct Environment {
  std::string processor;           // "AMD EPYC"
  std::string architecture;        // "x86_64"
  std::vector<std::string> flags;  // instruction sets that runtimes choose kernels by: "avx2", "avx512f", "amx_bf16", …
  int processors_online = 0;
  int processors_usable = 0;               // affinity and cgroup quota
  std::optional<double> quota_processors;  // cgroup CPU quota, where there is one
  int cores = 0;
  int sockets = 0;
  int numa_nodes = 0;
  bool smt_active = false;
  std::vector<Cache> caches;
  std::uint64_t memory_total_bytes = 0;
  std::uint64_t memory_available_bytes = 0;
  std::uint64_t swap_used_bytes = 0;
  std::optional<std::string> governor;
  std::optional<bool> turbo;
  std::optional<int> aslr;     // /proc/sys/kernel/randomize_va_space
  std::string virtualization;  // "", "kvm", "container", …
  std::string kernel;          // "6.1.0-18-amd64"
  std::string distribution;    // "Debian GNU/Linux 12 (bookworm)"
  std::string hostname;
  std::optional<double> load_1min;
  std::optional<int> perf_event_paranoid;
  bool hardware_counters = false;
  bool invariant_tsc = false;
  std::optional<int> landlock_abi;
  bool seccomp = false;
  bool cgroup_v2 = false;
  std::string infermeter_version;
  std::string build;       // "release, g++ 12.2.0"
  std::string git_commit;  // of the folder the run was started in; "" if it is no repository
  std::string command;     // the command line, shell-quoted, that repeats it
  // Of a run that was measured on nodes of a cluster: each of them once, by its hostname; their own `nodes` are empty.
  // All else is of the first of them. Empty: the run was measured on one machine.
  std::vector<Environment> nodes{};
};

// A digest of what makes two machines comparable: processor, flags, counts, caches, memory size, kernel release. Of
// nodes that differ in it: a digest of theirs.
[[nodiscard]] std::string machine_fingerprint(const Environment& environment);

}  // namespace infermeter
