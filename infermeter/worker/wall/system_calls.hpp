// The system calls that a worker gives up (seccomp), and the judge of those that name a process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"
#include "infermeter/worker/wall/process_tree.hpp"
#include "infermeter/worker/wall/server_addresses.hpp"

struct seccomp_data;   // NOLINT(readability-identifier-naming): the kernel's
struct seccomp_notif;  // NOLINT(readability-identifier-naming)

namespace infermeter {

struct CallRestriction {
  bool good = false;        // the kernel restricts system calls here
  FileDescriptor listener;  // for a CallJudge: every call that names another process waits there; none: it is refused
};

struct CallNeeds {
  bool programs = false;    // programs may be started
  bool listening = false;   // a Unix socket may be made to be connected to, as CUDA's driver does; never to connect
  bool connecting = false;  // TCP sockets may be made; each connect(2) waits for a CallJudge. Not with `listening`
};
// For this process and those that it will start; cannot be undone.
[[nodiscard]] CallRestriction restrict_system_calls(const CallNeeds& needs);

// Whether this kernel has filters, and listeners to them.
[[nodiscard]] bool has_call_filters();
[[nodiscard]] bool has_call_listeners();

// Answers calls that name a process: those that name a descendant of this one go on, the others fail with EPERM. And
// calls that make one: there are at most most_worker_processes (process_tree.hpp). Where it is no more, all of them
// fail. And connect(2), whose address is in memory that may change while it is looked at: the judge reads it once,
// makes the connection itself if the address is among the servers, without waiting for it, and puts it in the place of
// the caller's socket.
class CallJudge {
 public:
  CallJudge() = default;
  // `servers`: addresses that may be connected to (server_addresses.hpp).
  explicit CallJudge(FileDescriptor listener, std::string_view servers = {})
      : listener_(std::move(listener)), servers_(addresses_from_string(servers)) {}

  [[nodiscard]] int listener() const { return listener_.get(); }  // readable when a call waits; -1: none
  // Answers one call that waits. Stops listening where nobody can call any more.
  void answer();

 private:
  [[nodiscard]] int refusal_of(const seccomp_data& call);  // errno; 0: it goes on
  [[nodiscard]] bool has_room();
  [[nodiscard]] int connect_for(const seccomp_notif& asked) const;  // errno; 0: it is connected

  FileDescriptor listener_;
  std::vector<SocketAddress> servers_;
  std::size_t room_ = 0;  // for so many processes, as they were counted last
  Seldom count_{};
};

}  // namespace infermeter
