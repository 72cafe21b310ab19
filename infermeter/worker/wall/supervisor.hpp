// Supervisor: a process between launcher and worker that ends with everything that the worker has started, whatever
// session it is in, and even if the launcher is killed. Orphans of the worker become its children
// (PR_SET_CHILD_SUBREAPER, prctl(2)). Meanwhile it decides on their system calls that name a process
// (system_calls.hpp).
#pragma once

#include <sys/types.h>

#include <string_view>

namespace infermeter {

// The supervisor finds them under these numbers: where it writes a SupervisorReport, and the worker's worker_guard.
inline constexpr int supervisor_report = 3;
inline constexpr int supervisor_guard = 4;
// The first argument of the program; the second is the worker's process id.
inline constexpr std::string_view supervise_argument = "--supervise";

// How the worker ended.
struct SupervisorReport {
  int signal = 0;  // that ended it; 0: none
  int exit_code = 0;
};

// Waits until the worker ends or the launcher dies or sends SIGTERM; kills what is left of the worker's processes,
// reaps them, and reports. All signals are blocked already. The result is an exit code.
[[nodiscard]] int supervise(pid_t worker);

}  // namespace infermeter
