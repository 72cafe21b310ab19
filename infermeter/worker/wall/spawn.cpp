#include "infermeter/worker/wall/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "infermeter/worker/wall/supervisor.hpp"

namespace infermeter {
namespace {

// The stack of a child that shares our memory.
class ChildStack {
 public:
  [[nodiscard]] void* top() { return memory_.data() + memory_.size(); }

 private:
  static constexpr std::size_t size = 64 * 1024;
  std::vector<std::max_align_t> memory_{size / sizeof(std::max_align_t)};
};

// Everything the child needs, made before it exists: it shares our memory and may only make system calls.
struct Preparation {
  const char* program;
  const char* supervisor;  // nullptr: none
  char* const* arguments;
  char* const* environment;
  const char* folder;
  int null_device, output, socket, block;
  int report;                     // the supervisor's end of it
  int guard, guarded;             // the supervisor's end of a socket, the program's
  const cpu_set_t* cpus;          // nullptr: ours
  pid_t parent;                   // of who is being made
  void* program_stack = nullptr;  // the supervisor's child's
  pid_t pid = -1;                 // set by the supervisor
  const char* failed = nullptr;   // the step, set by the child
  int error = 0;
};

constexpr int first_spare = worker_block + 1;

bool fail(Preparation& prepared, const char* step) {
  prepared.failed = step;
  prepared.error = errno;
  return false;
}

[[noreturn]] void give_up(Preparation& prepared, const char* step) {
  fail(prepared, step);
  _exit(127);
}

void reset_signal_actions() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
}

void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool tie_to_parent(Preparation& prepared, int signal) {
  if (setsid() < 0) return fail(prepared, "making its own session");
  if (prctl(PR_SET_PDEATHSIG, signal) != 0) return fail(prepared, "tying it to this process");
  // The parent may have died before the line above; within a PID namespace's first process getppid stays 0.
  if (getppid() != prepared.parent) _exit(0);
  return true;
}

// The n-th of `wanted` becomes descriptor n, all others are closed; the first that is -1 ends the list. They are moved
// above all targets first, so that none overwrites another.
bool arrange_descriptors(Preparation& prepared, const std::array<int, first_spare>& wanted) {
  std::array<int, first_spare> moved{};
  int spare = 0;
  for (; spare < first_spare && wanted[static_cast<std::size_t>(spare)] >= 0; ++spare) {
    const auto i = static_cast<std::size_t>(spare);
    moved[i] = fcntl(wanted[i], F_DUPFD, first_spare);
    if (moved[i] < 0) return fail(prepared, "arranging its descriptors");
  }
  for (int i = 0; i < spare; ++i)
    if (dup2(moved[static_cast<std::size_t>(i)], i) < 0) return fail(prepared, "arranging its descriptors");
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

int program_main(void* argument) {
  auto& prepared = *static_cast<Preparation*>(argument);
  reset_signal_actions();
  unblock_signals();
  if (!tie_to_parent(prepared, SIGKILL)) _exit(127);
  if (!arrange_descriptors(prepared, {prepared.null_device, prepared.output, prepared.output, prepared.socket,
                                      prepared.guarded, prepared.block}))
    _exit(127);
  limit_resources();
  // A CPU set that is refused is reported by the worker, which compares what it got with what was asked for.
  if (prepared.cpus != nullptr) sched_setaffinity(0, sizeof *prepared.cpus, prepared.cpus);
  if (chdir(prepared.folder) != 0) give_up(prepared, "entering its folder");
  execve(prepared.program, prepared.arguments, prepared.environment);
  give_up(prepared, "starting it");
}

// Signals stay blocked: the supervisor waits for those that concern it, and none is lost before it does.
int supervisor_main(void* argument) {
  auto& prepared = *static_cast<Preparation*>(argument);
  reset_signal_actions();
  if (!tie_to_parent(prepared, SIGTERM)) _exit(127);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) give_up(prepared, "becoming the parent of orphans");
  prepared.parent = getpid();
  prepared.pid = clone(program_main, prepared.program_stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &prepared);
  if (prepared.pid < 0) give_up(prepared, "making its process");
  if (prepared.failed != nullptr) _exit(127);
  if (arrange_descriptors(prepared, {prepared.null_device, prepared.null_device, prepared.null_device, prepared.report,
                                     prepared.guard, -1})) {
    std::array<char, 16> number{}, name{"supervisor"}, order{};
    supervise_argument.copy(order.data(), order.size() - 1);
    std::to_chars(number.data(), number.data() + number.size() - 1, prepared.pid);
    char* const arguments[] = {name.data(), order.data(), number.data(), nullptr};
    char* const environment[] = {nullptr};
    execve(prepared.supervisor, arguments, environment);
    fail(prepared, "starting its supervisor");
  }
  kill(prepared.pid, SIGKILL);
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
  ChildStack stack, second;
  prepared.program_stack = second.top();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  const pid_t pid = clone(prepared.supervisor == nullptr ? program_main : supervisor_main, stack.top(),
                          CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &prepared, &pidfd);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return internal_error(fmt::format("making a worker process failed: {}", std::strerror(error)));
  Child child{.pid = pid, .supervisor = -1, .pidfd = FileDescriptor(pidfd), .report = {}};
  if (prepared.supervisor != nullptr) {
    child.supervisor = pid;
    child.pid = prepared.pid;
  }
  return child;
}

}  // namespace

Result<Child> spawn(const SpawnRequest& request) {
  std::vector<std::string> arguments = {request.program.string()};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = request.environment;
  const std::vector<char*> argument_pointers = pointers_to(arguments), environment_pointers = pointers_to(environment);
  const FileDescriptor null_device(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null_device) return internal_error(fmt::format("opening /dev/null failed: {}", std::strerror(errno)));
  int pipes[2] = {-1, -1};
  if (!request.supervisor.empty() && pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0)
    return internal_error(fmt::format("making a pipe failed: {}", std::strerror(errno)));
  FileDescriptor reading(pipes[0]);
  const FileDescriptor writing(pipes[1]);
  int sockets[2] = {-1, -1};
  if (!request.supervisor.empty() && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return internal_error(fmt::format("making a socket failed: {}", std::strerror(errno)));
  const FileDescriptor guard(sockets[0]), guarded(sockets[1]);
  const cpu_set_t cpus = cpu_set_of(request.cpus);
  Preparation prepared{.program = request.program.c_str(),
                       .supervisor = request.supervisor.empty() ? nullptr : request.supervisor.c_str(),
                       .arguments = argument_pointers.data(),
                       .environment = environment_pointers.data(),
                       .folder = request.folder.c_str(),
                       .null_device = null_device.get(),
                       .output = request.output,
                       .socket = request.socket,
                       .block = request.block,
                       .report = writing.get(),
                       .guard = guard.get(),
                       .guarded = guarded.get(),
                       .cpus = request.cpus.empty() ? nullptr : &cpus,
                       .parent = getpid()};
  INFERMETER_TRY(Child child, clone_child(prepared));
  child.report = std::move(reading);
  if (prepared.failed == nullptr) return child;
  waitpid(child.supervisor > 0 ? child.supervisor : child.pid, nullptr, 0);
  return internal_error(fmt::format("the worker {} could not be started: {} failed: {}", request.program.string(),
                                    prepared.failed, std::strerror(prepared.error)));
}

}  // namespace infermeter
