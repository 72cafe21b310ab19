// ProcessTree: a worker and the processes that it has started, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {

// Of all its threads; nothing where /proc does not tell.
[[nodiscard]] std::optional<std::vector<pid_t>> children_of(pid_t process);

// Paces what costs time: for at most 2 % of the time.
class Seldom {
 public:
  using Clock = double (*)();
  explicit Seldom(Clock clock = monotonic_s) : clock_(clock) {}
  [[nodiscard]] bool is_due() const { return clock_() >= again_s_; }
  // Between it and the next: at least `pause_s`, and 49 times what it took.
  void run(const std::function<void()>& what, double pause_s = 0);

 private:
  Clock clock_;
  double again_s_ = 0;
};

// A sum that costs more to take than what it is about may be disturbed by: taken seldom, or when it could have passed a
// limit. In between it is taken to have grown as what is cheap to know has.
class SeldomSum {
 public:
  explicit SeldomSum(Seldom::Clock clock = monotonic_s) : pace_(clock) {}
  // `cheap`: grows at least as the sum does. 0 as `limit`: none.
  [[nodiscard]] std::uint64_t at(std::uint64_t cheap, std::uint64_t limit, const std::function<std::uint64_t()>& take);

 private:
  Seldom pace_;
  std::uint64_t taken_ = 0, cheap_ = 0;
};

class ProcessTree {
 public:
  // Orphans of the worker are children of `supervisor`.
  ProcessTree(pid_t worker, pid_t supervisor) : worker_(worker), supervisor_(supervisor) {}

  // Bytes in memory: the worker's resident set without `own_bytes` of shared memory that are not the subject's, the
  // proportional sets of the processes that it has started, and what it keeps in memory files (memfd, its own
  // /dev/shm). Above `limit` (0: none) what they share with the worker is counted once. Nothing where /proc does not
  // tell. Costs some microseconds where there are no such processes.
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes(std::uint64_t own_bytes, std::uint64_t limit);
  // Other than the worker; looked for only when a process or thread has been made on this machine since the last time.
  [[nodiscard]] const std::vector<pid_t>& descendants();

 private:
  void search();
  [[nodiscard]] std::uint64_t bytes_in_memory_files();

  pid_t worker_, supervisor_;
  std::string last_made_{};
  std::vector<pid_t> descendants_{};
  SeldomSum others_{}, all_{};
  Seldom search_{}, files_{};
  std::uint64_t in_files_ = 0;
};

}  // namespace infermeter
