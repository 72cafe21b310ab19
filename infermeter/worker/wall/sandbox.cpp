#include "infermeter/worker/wall/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"
#include "infermeter/worker/wall/privileges.hpp"
#include "infermeter/worker/wall/spawn.hpp"
#include "infermeter/worker/wall/system_calls.hpp"
#include "infermeter/worker/wire/frames.hpp"

namespace infermeter {
namespace {

// Landlock's user interface (Documentation/userspace-api/landlock.rst). Written out here because the headers of older
// distributions know fewer rights than the kernels that run there.
constexpr long call_create_ruleset = 444, call_add_rule = 445, call_restrict_self = 446;
constexpr unsigned flag_version = 1;
constexpr int rule_path_beneath = 1;

enum FileRight : std::uint64_t {
  execute = 1U << 0,
  write_file = 1U << 1,
  read_file = 1U << 2,
  read_dir = 1U << 3,
  truncate = 1U << 14,
  ioctl_dev = 1U << 15,
};
constexpr std::uint64_t rights_of_files = execute | write_file | read_file | truncate | ioctl_dev;
constexpr std::uint64_t reading = execute | read_file | read_dir;
constexpr std::uint64_t not_executing = ~std::uint64_t{execute};

struct RulesetAttributes {
  std::uint64_t handled_files;
  std::uint64_t handled_network;  // ABI 4 on
  std::uint64_t scoped;           // ABI 6 on
};
constexpr std::uint64_t no_binding_or_connecting = 3, no_abstract_socket_or_signal_out = 3;
struct __attribute__((packed)) PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
};

// Every right that this kernel knows: 13 in ABI 1, then refer (2), truncate (3), ioctl on devices (5).
std::uint64_t all_rights(int abi) {
  if (abi >= 5) return (1U << 16) - 1;
  if (abi >= 3) return (1U << 15) - 1;
  if (abi >= 2) return (1U << 14) - 1;
  return (1U << 13) - 1;
}

// A path that is not there needs no rule.
void allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const FileDescriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) rights &= rights_of_files;
  const PathRule rule{rights, file.get()};
  syscall(call_add_rule, ruleset, rule_path_beneath, &rule, 0U);
}

// What drivers of accelerators talk through.
std::vector<std::string> device_paths() {
  std::vector<std::string> paths = {"/dev/dri", "/dev/kfd", "/dev/accel"};
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with("nvidia")) paths.push_back(entry->path().string());
  return paths;
}

constexpr const char* read_devices[] = {"/dev/urandom", "/dev/random"};
constexpr const char* written_devices[] = {"/dev/null", "/dev/zero"};

std::vector<std::string> all_devices(const SandboxPaths& paths) {
  std::vector<std::string> all = paths.devices ? device_paths() : std::vector<std::string>();
  all.insert(all.end(), std::begin(read_devices), std::end(read_devices));
  all.insert(all.end(), std::begin(written_devices), std::end(written_devices));
  return all;
}

bool has_nvidia() { return access("/dev/nvidiactl", F_OK) == 0; }

std::size_t size_of_attributes(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? offsetof(RulesetAttributes, scoped) : offsetof(RulesetAttributes, handled_network);
}

bool enter_landlock(const SandboxPaths& paths, bool own_shared_memory) {
  const int abi = landlock_abi();
  if (abi < 1) return false;
  const std::uint64_t all = all_rights(abi);
  const RulesetAttributes attributes{all, no_binding_or_connecting, no_abstract_socket_or_signal_out};
  const FileDescriptor ruleset(
      static_cast<int>(syscall(call_create_ruleset, &attributes, size_of_attributes(abi), 0U)));
  if (!ruleset) return false;
  for (const char* const path : {"/usr", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sys", "/etc/ld.so.cache",
                                 "/etc/localtime", "/etc/OpenCL"})
    allow(ruleset.get(), path, reading);
  for (const char* const path : read_devices) allow(ruleset.get(), path, reading);
  for (const char* const path : written_devices) allow(ruleset.get(), path, all);
  for (const std::string& path : paths.readable) allow(ruleset.get(), path, reading);
  for (const std::string& path : paths.writable) allow(ruleset.get(), path, all & not_executing);
  if (own_shared_memory) allow(ruleset.get(), "/dev/shm", all & not_executing);
  if (paths.devices)
    for (const std::string& path : device_paths()) allow(ruleset.get(), path, all);
  return syscall(call_restrict_self, ruleset.get(), 0U) == 0;
}

}  // namespace

int landlock_abi() {
  const long abi = syscall(call_create_ruleset, nullptr, 0, flag_version);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

Enforcement what_can_be_enforced() {
  return {.landlock_abi = landlock_abi(),
          .system_calls = has_call_filters(),
          .supervisor = has_call_listeners(),
          .mounts = may_enter_private_mounts()};
}

Result<std::vector<Diagnostic>> enter_sandbox(Sandbox sandbox, const SandboxPaths& paths, int supervisor) {
  std::vector<Diagnostic> missing;
  const FileDescriptor guard(supervisor);
  if (sandbox == Sandbox::off) return missing;
  const bool locked = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  const PrivateMounts mounts =
      enter_private_mounts({.writable = paths.writable, .readable = paths.readable, .devices = all_devices(paths)});
  drop_capabilities();
  if (!locked || !enter_landlock(paths, mounts.shared_memory))
    missing.push_back({DiagnosticId::no_landlock, "the kernel does not restrict files by Landlock here", {}});
  const CallRestriction restriction = locked ? restrict_system_calls({.programs = paths.programs,
                                                                      .listening = paths.devices && has_nvidia(),
                                                                      .connecting = !paths.servers.empty()})
                                             : CallRestriction{};
  if (!restriction.good)
    missing.push_back({DiagnosticId::no_seccomp, "the kernel does not restrict system calls by seccomp here", {}});
  if (restriction.listener)
    INFERMETER_TRY_DONE(send_frame(guard.get(), FrameType::listener, paths.servers, restriction.listener.get()));
  if (restriction.good && !restriction.listener && !paths.servers.empty())
    return usage_error(
        "the sandbox cannot be opened for the server here: the kernel is too old, or another program listens to system "
        "calls (`infermeter doctor`); --sandbox off does without");
  if (sandbox == Sandbox::strict && !missing.empty())
    return usage_error(
        fmt::format("--sandbox strict was asked for, and {}; --sandbox auto does without", missing.front().message));
  return missing;
}

}  // namespace infermeter
