// Spawn: a program started so that nothing of ours leaks into it and it cannot outlive us.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {

// The worker finds them under these numbers.
inline constexpr int worker_socket = 3;
inline constexpr int worker_guard = 4;  // a socket to the supervisor (supervisor.hpp)
inline constexpr int worker_block = 5;

struct SpawnRequest {
  std::filesystem::path program;
  std::filesystem::path supervisor{};    // infermeter-worker (supervisor.hpp); empty: none
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "KEY=value"; all of it
  std::filesystem::path folder;          // current folder
  int output = -1;                       // becomes stdout and stderr
  int socket = -1;                       // becomes worker_socket; -1: none, and no block either
  int block = -1;                        // becomes worker_block; -1: none
  std::vector<int> cpus;                 // empty: ours
};

struct Child {
  pid_t pid = -1;         // the program's
  pid_t supervisor = -1;  // our child, where there is one; else the program is
  FileDescriptor pidfd;   // of our child: readable when it has ended
  FileDescriptor report;  // a SupervisorReport, when the supervisor has ended
};

// In the child, before the program begins: session and process group of its own, SIGKILL when our thread (or the
// supervisor) dies, default signal handling, no core files, first to be chosen when memory runs out, all other
// descriptors closed.
[[nodiscard]] Result<Child> spawn(const SpawnRequest& request);

}  // namespace infermeter
