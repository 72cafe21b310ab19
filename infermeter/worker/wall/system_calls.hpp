// The system calls that a worker gives up (seccomp), and the judge of those that name a process.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"
#include "infermeter/worker/wall/process_tree.hpp"

struct seccomp_data;  // NOLINT(readability-identifier-naming): the kernel's

namespace infermeter {

struct CallRestriction {
  bool good = false;        // the kernel restricts system calls here
  FileDescriptor listener;  // for a CallJudge: every call that names another process waits there; none: it is refused
};

struct CallNeeds {
  bool programs = false;   // programs may be started
  bool listening = false;  // a Unix socket may be made to be connected to, as CUDA's driver does; never to connect
};
// For this process and those that it will start; cannot be undone.
[[nodiscard]] CallRestriction restrict_system_calls(const CallNeeds& needs);

// Whether this kernel has filters, and listeners to them.
[[nodiscard]] bool has_call_filters();
[[nodiscard]] bool has_call_listeners();

// Answers calls that name a process: those that name a descendant of this one go on, the others fail with EPERM. And
// calls that make one: there are at most most_worker_processes (process_tree.hpp). Where it is no more, all of them
// fail.
class CallJudge {
 public:
  CallJudge() = default;
  explicit CallJudge(FileDescriptor listener) : listener_(std::move(listener)) {}

  [[nodiscard]] int listener() const { return listener_.get(); }  // readable when a call waits; -1: none
  // Answers one call that waits. Stops listening where nobody can call any more.
  void answer();

 private:
  [[nodiscard]] int refusal_of(const seccomp_data& call);  // errno; 0: it goes on
  [[nodiscard]] bool has_room();

  FileDescriptor listener_;
  std::size_t room_ = 0;  // for so many processes, as they were counted last
  Seldom count_{};
};

}  // namespace infermeter
