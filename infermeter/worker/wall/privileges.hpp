// What a worker gives up beside system calls and files: the mounts that others see, and capabilities.
#pragma once

#include <string>
#include <vector>

namespace infermeter {

// From here on everything is read-only but `writable` (files and folders), no device can be opened but `devices`, which
// read-only would leave writable, and /dev/shm is empty and ends with this process, unless one of the paths lies in it.
// In a user namespace of its own where that takes one. False: the kernel does not let this user do so, and nothing has
// changed.
struct MountPaths {
  std::vector<std::string> writable, readable;
  std::vector<std::string> devices;  // files and folders
};
struct PrivateMounts {
  bool good = false, shared_memory = false;  // everything is read-only; /dev/shm is its own
};
[[nodiscard]] PrivateMounts enter_private_mounts(const MountPaths& paths);

// Whether it could, tried by a child.
[[nodiscard]] bool may_enter_private_mounts();

// All, for good, but that root may read what belongs to others: the model of the user who called sudo.
void drop_capabilities();

}  // namespace infermeter
