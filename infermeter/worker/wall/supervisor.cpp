#include "infermeter/worker/wall/supervisor.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/worker/wall/process_tree.hpp"
#include "infermeter/worker/wall/system_calls.hpp"
#include "infermeter/worker/wire/frames.hpp"

namespace infermeter {
namespace {

constexpr double longest_killing_s = 5;  // of processes that fork faster than they are killed

SupervisorReport report_of(const siginfo_t& ended) {
  if (ended.si_code == CLD_EXITED) return {.signal = 0, .exit_code = ended.si_status};
  return {.signal = ended.si_status, .exit_code = 0};
}

// The next child that has ended, reaped unless it is the worker, whose number keeps its group's; 0: none has.
pid_t next_ended(pid_t worker, SupervisorReport& report) {
  siginfo_t ended{};
  if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  if (ended.si_pid == worker) report = report_of(ended);
  if (ended.si_pid != worker && ended.si_pid != 0) waitid(P_PID, static_cast<id_t>(ended.si_pid), &ended, WEXITED);
  return ended.si_pid;
}

// What the worker sends before it loads anything foreign: where its calls wait.
class Guard {
 public:
  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] CallJudge& judge() { return judge_; }

  void read() {
    const Result<bool> open = frames_.read_some(socket_.get());
    Result<std::optional<Frame>> frame = frames_.next();
    if (frame.ok() && frame.value() && frame.value()->descriptor)
      judge_ = CallJudge(std::move(frame.value()->descriptor), frame.value()->payload);
    if (!open.ok() || !open.value() || judge_.listener() >= 0) socket_.reset();
  }

 private:
  FileDescriptor socket_{supervisor_guard};
  FrameReader frames_;
  CallJudge judge_;
};

// Returns when the worker has ended, or when it is to be. From then on nobody decides on calls, and those that make a
// process fail: no process can fork faster than it is killed.
void wait_for_end(pid_t worker, SupervisorReport& report) {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  const FileDescriptor signals(signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK));
  Guard guard;
  for (;;) {
    while (const pid_t ended = next_ended(worker, report))
      if (ended == worker) return;
    pollfd waiting[] = {{signals.get(), POLLIN, 0}, {guard.socket(), POLLIN, 0}, {guard.judge().listener(), POLLIN, 0}};
    if (poll(waiting, 3, -1) < 0) continue;
    signalfd_siginfo came{};
    while (read(signals.get(), &came, sizeof came) == static_cast<ssize_t>(sizeof came))
      if (came.ssi_signo == SIGTERM) return;
    if (waiting[1].revents != 0) guard.read();
    if ((waiting[2].revents & POLLIN) != 0)
      guard.judge().answer();
    else if (waiting[2].revents != 0)
      guard.judge() = CallJudge();
  }
}

// Reaps the children that have ended.
void reap_all(pid_t worker, SupervisorReport& report) {
  siginfo_t ended{};
  while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG) == 0 && ended.si_pid != 0) {
    if (ended.si_pid == worker) report = report_of(ended);
    ended = {};
  }
}

// A killed process leaves its children to us, so that killing our own until there are none reaches all of them.
void kill_all(pid_t worker, SupervisorReport& report) {
  kill(-worker, SIGKILL);
  kill(worker, SIGKILL);
  const double begin_s = monotonic_s();
  while (monotonic_s() - begin_s < longest_killing_s) {
    const auto children = children_of(getpid());
    if (!children) return;  // no /proc: the worker's own group is what can be reached
    for (const pid_t child : *children) kill(child, SIGKILL);
    siginfo_t any{};
    if (waitid(P_ALL, 0, &any, WEXITED | WNOWAIT | (children->empty() ? WNOHANG : 0)) != 0) return;
    if (any.si_pid == 0) sched_yield();  // they are there and were not listed: one ended meanwhile
    reap_all(worker, report);
  }
}

}  // namespace

int supervise(pid_t worker) {
  if (worker <= 1) return 2;
  SupervisorReport report;
  wait_for_end(worker, report);
  kill_all(worker, report);
  return write(supervisor_report, &report, sizeof report) == static_cast<ssize_t>(sizeof report) ? 0 : 1;
}

}  // namespace infermeter
