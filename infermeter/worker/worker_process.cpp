#include "infermeter/worker/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "infermeter/text/hash.hpp"

namespace infermeter {
namespace {

Error worker_system_failed(std::string_view doing) {
  return internal_error(fmt::format("{} failed: {}", doing, std::strerror(errno)));
}

// Nothing of the user's own gets through that could make a runtime behave otherwise on another day. The length of the
// padding moves the stack, so that layouts are sampled and not fixed (Mytkowicz et al. 2009); neighbouring seeds give
// unrelated lengths.
std::vector<std::string> worker_environment(const std::filesystem::path& folder, std::uint64_t seed) {
  std::vector<std::string> environment = {
      "LANG=C.UTF-8", "HOME=" + folder.string(), "TMPDIR=" + folder.string(), "ORT_DISABLE_TELEMETRY=1",
      "INFERMETER_PADDING=" + std::string(split_mix(seed + kSplitMixStep) % 4096, 'x')};
  for (const char* const kept : {"CUDA_VISIBLE_DEVICES", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* const value = std::getenv(kept)) environment.push_back(std::string(kept) + '=' + value);
  return environment;
}

constexpr int longest_end_ms = 6000;  // of a supervisor, which takes 5 s at most to kill what does not die

bool make_nonblocking(int descriptor) {
  return fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const Request& request) {
  INFERMETER_TRY(PrivateFolder folder, PrivateFolder::create());
  int sockets[2], pipes[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return worker_system_failed("making a socket");
  FileDescriptor ours(sockets[0]), theirs(sockets[1]);
  if (pipe2(pipes, O_CLOEXEC) != 0) return worker_system_failed("making a pipe");
  FileDescriptor reading(pipes[0]), writing(pipes[1]);
  if (!make_nonblocking(ours.get()) || !make_nonblocking(reading.get()))
    return worker_system_failed("preparing a socket");
  std::vector<std::string> environment = worker_environment(folder.path(), request.seed);
  environment.insert(environment.end(), request.program.environment.begin(), request.program.environment.end());
  for (const auto& [name, value] : request.variables) {
    const std::string begin = name + '=';
    std::erase_if(environment, [&](const std::string& variable) { return variable.starts_with(begin); });
    environment.push_back(begin + value);
  }
  const std::filesystem::path& supervisor =
      request.program.supervisor.empty() ? request.program.file : request.program.supervisor;
  INFERMETER_TRY(Child child, spawn({.program = request.program.file,
                                     .supervisor = supervisor,
                                     .arguments = request.program.arguments,
                                     .environment = std::move(environment),
                                     .folder = folder.path(),
                                     .output = writing.get(),
                                     .socket = theirs.get(),
                                     .block = request.block,
                                     .cpus = request.cpus}));
  return WorkerProcess(std::move(folder), std::move(ours), std::move(reading), std::move(child));
}

WorkerProcess::~WorkerProcess() {
  if (!child_.pidfd) return;
  kill();
  reap();
}

void WorkerProcess::read_output() {
  if (output_ && !tail_.read_some(output_.get())) output_.reset();
}

// A worker may have stopped its supervisor.
void WorkerProcess::kill() const {
  for (const int signal : {SIGTERM, SIGCONT}) syscall(SYS_pidfd_send_signal, child_.pidfd.get(), signal, nullptr, 0U);
}

WorkerEnd WorkerProcess::reap() {
  pollfd ends{child_.pidfd.get(), POLLIN, 0};
  int found = 0;
  while ((found = poll(&ends, 1, longest_end_ms)) < 0 && errno == EINTR) {
  }
  // The worker dies with it.
  if (found == 0) syscall(SYS_pidfd_send_signal, child_.pidfd.get(), SIGKILL, nullptr, 0U);
  siginfo_t ended{};
  while (waitid(P_PIDFD, static_cast<id_t>(child_.pidfd.get()), &ended, WEXITED) != 0 && errno == EINTR) {
  }
  child_.pidfd.reset();
  SupervisorReport report;
  if (read(child_.report.get(), &report, sizeof report) == static_cast<ssize_t>(sizeof report)) return report;
  if (ended.si_code == CLD_EXITED) return {.signal = 0, .exit_code = ended.si_status};
  return {.signal = ended.si_status, .exit_code = 0};
}

}  // namespace infermeter
