#include "infermeter/worker/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace infermeter {
namespace {

// Everything the child needs, made before it exists: it shares our memory and may only make system calls.
struct Preparation {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* folder;
  int null_device, output, socket, block;
  const cpu_set_t* cpus;  // nullptr: ours
  pid_t parent;
  const char* failed = nullptr;  // the step, set by the child
  int error = 0;
};

constexpr int first_spare = worker_block + 1;

bool fail(Preparation& prepared, const char* step) {
  prepared.failed = step;
  prepared.error = errno;
  return false;
}

void reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool tie_to_parent(Preparation& prepared) {
  if (setsid() < 0) return fail(prepared, "making its own session");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return fail(prepared, "tying it to this process");
  // The parent may have died before the line above; within a PID namespace's first process getppid stays 0.
  if (getppid() != prepared.parent) _exit(0);
  return true;
}

// Descriptors in `wanted` are moved above all targets first, so that none overwrites another.
bool arrange_descriptors(Preparation& prepared) {
  const std::array<std::pair<int, int>, 5> wanted = {{{prepared.null_device, 0},
                                                      {prepared.output, 1},
                                                      {prepared.output, 2},
                                                      {prepared.socket, worker_socket},
                                                      {prepared.block, worker_block}}};
  std::array<int, 5> moved{};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    moved[i] = -1;
    if (wanted[i].first < 0) continue;
    moved[i] = fcntl(wanted[i].first, F_DUPFD, 64);
    if (moved[i] < 0) return fail(prepared, "arranging its descriptors");
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (moved[i] >= 0 && dup2(moved[i], wanted[i].second) < 0) return fail(prepared, "arranging its descriptors");
  const int spare = prepared.socket < 0 ? worker_socket : prepared.block < 0 ? worker_block : first_spare;
  if (syscall(SYS_close_range, static_cast<unsigned>(spare), ~0U, 0U) == 0) return true;
  for (int descriptor = spare; descriptor < 65536; ++descriptor) close(descriptor);
  return true;
}

void limit_resources() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
    setrlimit(RLIMIT_NOFILE, &files);
  }
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    static_cast<void>(!write(score, "1000", 4));
    close(score);
  }
}

int child_main(void* argument) {
  auto& prepared = *static_cast<Preparation*>(argument);
  reset_signals();
  if (!tie_to_parent(prepared)) _exit(127);
  if (!arrange_descriptors(prepared)) _exit(127);
  limit_resources();
  // A CPU set that is refused is told by the worker, which compares what it got with what was asked for.
  if (prepared.cpus != nullptr) sched_setaffinity(0, sizeof *prepared.cpus, prepared.cpus);
  if (chdir(prepared.folder) != 0)
    fail(prepared, "entering its folder");
  else if (execve(prepared.program, prepared.arguments, prepared.environment) != 0)
    fail(prepared, "starting it");
  _exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

cpu_set_t cpu_set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus)
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  return set;
}

// As vfork: the child borrows our memory until exec, so that a large driver costs nothing to start from. Signals wait
// meanwhile, because a handler would run in the child and write to our memory.
Result<Child> clone_child(Preparation& prepared) {
  constexpr std::size_t stack_size = 64 * 1024;
  std::vector<std::max_align_t> stack(stack_size / sizeof(std::max_align_t));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  const pid_t pid =
      clone(child_main, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &prepared, &pidfd);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return internal_error(fmt::format("making a worker process failed: {}", std::strerror(error)));
  return Child{pid, FileDescriptor(pidfd)};
}

}  // namespace

Result<Child> spawn(const SpawnRequest& request) {
  std::vector<std::string> arguments = {request.program.string()};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = request.environment;
  const std::vector<char*> argument_pointers = pointers_to(arguments), environment_pointers = pointers_to(environment);
  const FileDescriptor null_device(open("/dev/null", O_RDWR | O_CLOEXEC));
  const cpu_set_t cpus = cpu_set_of(request.cpus);
  Preparation prepared{.program = request.program.c_str(),
                       .arguments = argument_pointers.data(),
                       .environment = environment_pointers.data(),
                       .folder = request.folder.c_str(),
                       .null_device = null_device.get(),
                       .output = request.output,
                       .socket = request.socket,
                       .block = request.block,
                       .cpus = request.cpus.empty() ? nullptr : &cpus,
                       .parent = getpid()};
  INFERMETER_TRY(Child child, clone_child(prepared));
  if (prepared.failed == nullptr) return child;
  waitpid(child.pid, nullptr, 0);
  return internal_error(fmt::format("the worker {} could not be started: {} failed: {}", request.program.string(),
                                    prepared.failed, std::strerror(prepared.error)));
}

}  // namespace infermeter
