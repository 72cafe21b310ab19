// Sandbox: what a worker gives up before it loads anything foreign. Landlock takes the file system away but for what is
// named here, a mount namespace leaves the rest read-only, seccomp takes the calls that start programs, look into other
// processes, change the system or connect anywhere, and the supervisor decides on those that name a process.
#pragma once

#include <string>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

struct SandboxPaths {
  std::vector<std::string> readable;  // files and folders; what does not exist is left out
  std::vector<std::string> writable;
  bool devices = false;   // the device files of GPUs and other accelerators
  bool programs = false;  // programs may be started: a compiler, by what compiles models
  std::string servers{};  // addresses that may be connected to (server_addresses.hpp); empty: none
};

// The kernel's Landlock ABI; 0: none.
[[nodiscard]] int landlock_abi();

// Cannot be undone. `automatic` does what the kernel can and says what it cannot; `strict` fails instead.
// `supervisor`: the socket to it, which is closed.
[[nodiscard]] Result<std::vector<Diagnostic>> enter_sandbox(Sandbox sandbox, const SandboxPaths& paths, int supervisor);

}  // namespace infermeter
