// ProcessTree: a worker and the processes that it has started, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {

// Of all its threads; nothing where /proc does not report.
[[nodiscard]] std::optional<std::vector<pid_t>> children_of(pid_t process);
// Its children and theirs, those that have ended and were not reaped among them.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

// What a worker may have at most, with all its processes: no runtime comes near. The machine has a number for each, and
// memory that counts for nobody.
inline constexpr std::size_t most_worker_processes =
    1024;  // of a worker under a supervisor that decides (system_calls.hpp)
inline constexpr std::size_t most_worker_threads = 16'384;
inline constexpr std::size_t most_worker_sockets = 1024;

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
  // Orphans of the worker are children of `supervisor`. `folder`: its own.
  ProcessTree(pid_t worker, pid_t supervisor, std::filesystem::path folder = {}, Seldom::Clock clock = monotonic_s);

  // Bytes in memory: the worker's resident set without `own_bytes` of shared memory that are not the subject's, the
  // proportional sets of the processes that it has started, and what it keeps in memory files (memfd, its own
  // /dev/shm). Above `limit` (0: none) what they share with the worker is counted once. Nothing where /proc does not
  // tell. Costs some microseconds where there are no such processes.
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes(std::uint64_t own_bytes, std::uint64_t limit);
  // What is in memory for them beside that (shared_pages.hpp). `counted`: resident_bytes. Looked at seldom.
  [[nodiscard]] std::uint64_t bytes_beside(std::uint64_t counted, std::uint64_t limit);
  // Shared memory that is made for the worker and not by it.
  void exclude_shared_memory(std::uint64_t bytes) { shared_before_ += bytes; }
  // What there is more of than they may have; empty: nothing. As bytes_beside saw it last.
  [[nodiscard]] std::string excess() const;
  // Other than the worker; looked for when a process or thread has been made on this machine since the last time, and
  // four times a second otherwise.
  [[nodiscard]] const std::vector<pid_t>& descendants();

 private:
  void search();
  void look_at_files();
  void look_at_sizes();
  [[nodiscard]] std::uint64_t hidden_bytes();

  pid_t worker_, supervisor_;
  std::filesystem::path folder_;
  std::string last_made_{};
  std::vector<pid_t> descendants_{};
  SeldomSum others_{}, all_{};
  Seldom search_, quiet_, files_{}, sizes_{}, hidden_{};
  std::uint64_t in_files_ = 0, sockets_ = 0, not_mapped_ = 0;
  std::uint64_t beside_bytes_ = 0, threads_ = 0, hidden_bytes_ = 0;
  std::uint64_t shared_before_ = 0, shared_growth_ = 0;  // of the whole machine
};

}  // namespace infermeter
