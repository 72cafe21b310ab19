#include "infermeter/worker/wall/privileges.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {
namespace {

// mount_setattr(2), which the C libraries of older distributions do not know.
constexpr long set_mount_attributes = 442;
constexpr unsigned recursively = 0x8000;
constexpr std::uint64_t mounted_read_only = 1, mounted_without_devices = 4;
struct MountAttributes {
  std::uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};

bool set_mount(const char* path, const MountAttributes& attributes) {
  return syscall(set_mount_attributes, AT_FDCWD, path, recursively, &attributes, sizeof attributes) == 0;
}

bool put_text(const char* path, std::string_view text) {
  const FileDescriptor file(open(path, O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// The same user and group inside as outside.
bool enter_user_namespace() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // or the launcher could not read our memory's size any more
  return put_text("/proc/self/uid_map", fmt::format("{} {} 1", user, user)) &&
         put_text("/proc/self/setgroups", "deny") &&
         put_text("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

// Tried by a child: what fails half-way cannot be taken back.
bool child_can(bool (*enter)()) {
  const pid_t child = fork();
  if (child == 0) _exit(enter() && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : 1);
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool have_mount_namespace() {
  if (unshare(CLONE_NEWNS) == 0) return true;
  return geteuid() != 0 && child_can(enter_user_namespace) && enter_user_namespace();
}

constexpr const char* shared_memory = "/dev/shm";

bool lies_in_shared_memory(const std::string& path) {
  std::error_code error;
  const std::string full = std::filesystem::weakly_canonical(path, error).string() + '/';
  return full.starts_with(fmt::format("{}/", shared_memory));
}

// Those that are a mount of their own now.
std::vector<std::string> bind_to_themselves(const std::vector<std::string>& paths) {
  std::vector<std::string> bound;
  for (const std::string& path : paths)
    if (mount(path.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) bound.push_back(path);
  return bound;
}

bool path_is_there(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0;
}

}  // namespace

PrivateMounts enter_private_mounts(const MountPaths& paths) {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  if (error || !have_mount_namespace()) return {};
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return {};
  std::vector<std::string> writable = bind_to_themselves(paths.writable);
  const std::vector<std::string> devices = bind_to_themselves(paths.devices);
  const bool free_shared_memory = std::ranges::none_of(paths.writable, lies_in_shared_memory) &&
                                  std::ranges::none_of(paths.readable, lies_in_shared_memory);
  PrivateMounts entered;
  entered.shared_memory = free_shared_memory && path_is_there(shared_memory) &&
                          mount("tmpfs", shared_memory, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
  if (entered.shared_memory) writable.emplace_back(shared_memory);
  entered.good = set_mount("/", {.set = mounted_read_only | mounted_without_devices});
  for (const std::string& path : writable) set_mount(path.c_str(), {.clear = mounted_read_only});
  for (const std::string& path : devices) set_mount(path.c_str(), {.clear = mounted_without_devices});
  static_cast<void>(chdir(folder.c_str()) == 0);  // onto the mount that may be written to
  return entered;
}

bool may_enter_private_mounts() { return child_can(have_mount_namespace); }

void drop_capabilities() {
  for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    if (capability != CAP_DAC_READ_SEARCH) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> now{}, kept{};
  if (syscall(SYS_capget, &header, now.data()) == 0 && geteuid() == 0)
    kept[0].permitted = kept[0].effective = now[0].permitted & (1U << CAP_DAC_READ_SEARCH);
  syscall(SYS_capset, &header, kept.data());
}

}  // namespace infermeter
