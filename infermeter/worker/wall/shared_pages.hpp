// Memory of a worker's processes that no resident set shows: files in memory (memfd, /dev/shm, a temporary folder on a
// tmpfs), whether they are mapped or not, page tables, and what was swapped out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

namespace infermeter {

// Of one process, from /proc/PID/status; zeros where it is gone.
struct ProcessSize {
  std::uint64_t beside_bytes = 0;  // page tables, swapped out, huge pages of a pool
  std::uint64_t threads = 0;       // of one that has ended and was not reaped: 1
};
[[nodiscard]] ProcessSize size_of_process(pid_t process);

// What processes keep in files that their descriptors hold and nothing names; a file that several hold once.
struct HeldFiles {
  std::uint64_t bytes = 0;
  std::uint64_t sockets = 0;
  std::uint64_t in_flight = 0;  // descriptors that wait in those sockets to be received; only where `with_flights`

  void add(pid_t process, bool with_flights = false);

 private:
  std::set<std::pair<dev_t, ino_t>> seen_{};
};

// Of a /dev/shm that is not ours.
[[nodiscard]] std::uint64_t bytes_of_own_shared_memory(pid_t process);

// Of all processes of this machine: pages of shared memory and of files on a tmpfs.
[[nodiscard]] std::uint64_t shared_memory_in_use();

// Of these processes at most: no kernel reports whose shared memory is that is mapped nowhere. The sizes of what they
// map and hold, and what lies in `folder` if that is on a tmpfs. Descriptors in flight may hold any amount.
[[nodiscard]] std::uint64_t most_shared_memory_of(std::span<const pid_t> processes,
                                                  const std::filesystem::path& folder);

// Of one process, what it maps of shared memory; pages that others map as well in parts.
[[nodiscard]] std::uint64_t mapped_shared_memory_of(pid_t process);

}  // namespace infermeter
