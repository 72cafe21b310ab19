#include "infermeter/worker/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "infermeter/worker/file_descriptor.hpp"

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

struct RulesetAttributes {
  std::uint64_t handled_files;
  std::uint64_t handled_network;  // ABI 4 on
};
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
  std::vector<std::string> paths = {"/dev/dri", "/dev/kfd", "/dev/accel", "/dev/shm"};
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with("nvidia")) paths.push_back(entry->path().string());
  return paths;
}

bool enter_landlock(const SandboxPaths& paths) {
  const int abi = landlock_abi();
  if (abi < 1) return false;
  const std::uint64_t all = all_rights(abi);
  const RulesetAttributes attributes{all, abi >= 4 ? 3U : 0U};  // no binding, no connecting
  const std::size_t size = abi >= 4 ? sizeof attributes : sizeof attributes.handled_files;
  const FileDescriptor ruleset(static_cast<int>(syscall(call_create_ruleset, &attributes, size, 0U)));
  if (!ruleset) return false;
  for (const char* const path : {"/usr", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sys", "/etc/ld.so.cache",
                                 "/etc/localtime", "/etc/OpenCL", "/dev/urandom", "/dev/random"})
    allow(ruleset.get(), path, reading);
  for (const char* const path : {"/dev/null", "/dev/zero"}) allow(ruleset.get(), path, all);
  for (const std::string& path : paths.readable) allow(ruleset.get(), path, reading);
  for (const std::string& path : paths.writable) allow(ruleset.get(), path, all);
  if (paths.devices)
    for (const std::string& path : device_paths()) allow(ruleset.get(), path, all);
  return syscall(call_restrict_self, ruleset.get(), 0U) == 0;
}

// Answered with EPERM rather than death: a runtime that tries and goes on without is none the worse.
constexpr int program_calls[] = {SCMP_SYS(execve), SCMP_SYS(execveat)};
constexpr int denied_calls[] = {
    SCMP_SYS(ptrace),        SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(bpf),
    SCMP_SYS(mount),         SCMP_SYS(umount2),          SCMP_SYS(pivot_root),        SCMP_SYS(chroot),
    SCMP_SYS(setns),         SCMP_SYS(unshare),          SCMP_SYS(init_module),       SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(kexec_load),       SCMP_SYS(kexec_file_load),   SCMP_SYS(reboot),
    SCMP_SYS(swapon),        SCMP_SYS(swapoff),          SCMP_SYS(add_key),           SCMP_SYS(request_key),
    SCMP_SYS(keyctl),        SCMP_SYS(userfaultfd),      SCMP_SYS(open_by_handle_at), SCMP_SYS(io_uring_setup),
    SCMP_SYS(acct),          SCMP_SYS(settimeofday),     SCMP_SYS(clock_settime),     SCMP_SYS(sethostname),
};

bool enter_seccomp(bool programs) {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return false;
  bool good = true;
  const auto deny = [&](int call) { good = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) == 0 && good; };
  for (const int call : denied_calls) deny(call);
  if (!programs)
    for (const int call : program_calls) deny(call);
  const scmp_arg_cmp not_unix = {.arg = 0, .op = SCMP_CMP_NE, .datum_a = AF_UNIX, .datum_b = 0};
  good = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, &not_unix) == 0 && good;
  good = seccomp_load(filter) == 0 && good;
  seccomp_release(filter);
  return good;
}

}  // namespace

int landlock_abi() {
  const long abi = syscall(call_create_ruleset, nullptr, 0, flag_version);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

Result<std::vector<Diagnostic>> enter_sandbox(Sandbox sandbox, const SandboxPaths& paths) {
  std::vector<Diagnostic> missing;
  if (sandbox == Sandbox::off) return missing;
  const bool locked = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  if (!locked || !enter_landlock(paths))
    missing.push_back({DiagnosticId::no_landlock, "the kernel does not restrict files by Landlock here", {}});
  if (!locked || !enter_seccomp(paths.programs))
    missing.push_back({DiagnosticId::no_seccomp, "the kernel does not restrict system calls by seccomp here", {}});
  if (sandbox == Sandbox::strict && !missing.empty())
    return usage_error(fmt::format("--sandbox=strict was asked for, and {}; use --sandbox=automatic to do without",
                                   missing.front().message));
  return missing;
}

}  // namespace infermeter
