#include "infermeter/worker/profile/py_spy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/worker/profile/profile_folder.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name = "py-spy", result_name = "stacks.txt";
constexpr double longest_start_s = 10, longest_end_s = 5;

std::vector<fs::path> folders_of_path() {
  const char* const value = std::getenv("PATH");
  std::vector<fs::path> folders;
  for (std::string_view rest = value == nullptr ? "" : value; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (rest.starts_with('/')) folders.emplace_back(rest.substr(0, colon));  // never of the current folder
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return folders;
}

}  // namespace

fs::path find_py_spy(const Launcher& launcher) {
  std::vector<fs::path> folders = folders_of_path();
  if (!launcher.python.empty()) folders.insert(folders.begin(), launcher.python.parent_path());
  for (const fs::path& folder : folders)
    if (access((folder / name).c_str(), X_OK) == 0) return fs::absolute(folder / name);
  return {};
}

PySpy::~PySpy() {
  if (!child_.pidfd) return;
  kill(-child_.pid, SIGKILL);
  static_cast<void>(has_ended(-1));
}

void PySpy::look(pid_t worker) {
  const ExternalProfiler asked = block_.header().external_profiler.load(std::memory_order_acquire);
  if (stage_ == Stage::waiting && asked == ExternalProfiler::wanted) {
    const Result<Done> started = start(worker);
    if (!started.ok()) return give_up(started.error().message);
    enter(Stage::starting);
  }
  if (stage_ == Stage::waiting) return;
  if (stage_ == Stage::ended) return finish();  // its word may have come after ours
  read_output();
  const double since_s = monotonic_s() - entered_s_;
  if (has_ended(0)) return finish();
  if (stage_ == Stage::starting && said_.text().find("Sampling process") != std::string::npos) {
    enter(Stage::sampling);
    block_.header().external_profiler.store(ExternalProfiler::looking, std::memory_order_release);
  } else if (stage_ == Stage::starting && since_s > longest_start_s) {
    give_up(fmt::format("py-spy did not begin within {} s", longest_start_s));
  } else if (stage_ == Stage::sampling && asked == ExternalProfiler::dismissed) {
    kill(child_.pid, SIGINT);  // it writes what it has
    enter(Stage::ending);
  } else if (stage_ == Stage::ending && since_s > longest_end_s) {
    give_up(fmt::format("py-spy did not end within {} s", longest_end_s));
  }
}

Result<std::string> PySpy::take() {
  if (stage_ == Stage::waiting) return worker_error("the worker ended before its timed iterations");
  if (stage_ != Stage::ended && !has_ended(static_cast<int>(longest_end_s * 1e3)))  // it sees that the worker is gone
    give_up("py-spy did not end with the worker");
  if (stage_ != Stage::ended) finish();
  if (!why_not_.empty()) return worker_error(why_not_);
  // Ours alone has been in this folder: the worker does not know of it.
  for (ProfileFile& file : read_profile_folder(folder_->path()))
    if (file.name == result_name && !file.too_large) return std::move(file.bytes);
  return worker_error(
      "py-spy found no Python code that ran: the timed iterations were too short for 100 samples a second");
}

Result<Done> PySpy::start(pid_t worker) {
  INFERMETER_TRY(PrivateFolder folder, PrivateFolder::create());
  folder_.emplace(std::move(folder));
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0)
    return internal_error(fmt::format("making a pipe failed: {}", std::strerror(errno)));
  output_ = FileDescriptor(pipes[0]);
  const FileDescriptor writing(pipes[1]);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  INFERMETER_TRY(child_,
                 spawn({.program = program_,
                        .arguments = {"record", "--pid", std::to_string(worker), "--format", "raw", "--function",
                                      "--threads", "--nonblocking", "--rate", std::to_string(kPySpyRate), "--output",
                                      (folder_->path() / result_name).string()},
                        .environment = {"LANG=C.UTF-8", "RUST_BACKTRACE=0", "HOME=" + folder_->path().string(),
                                        "TMPDIR=" + folder_->path().string()},
                        .folder = folder_->path(),
                        .output = writing.get(),
                        .cpus = {}}));
  return Done{};
}

void PySpy::read_output() {
  pollfd descriptor{output_.get(), POLLIN, 0};
  if (output_ && poll(&descriptor, 1, 0) > 0 && !said_.read_some(output_.get())) output_.reset();
}

// Reaps it.
bool PySpy::has_ended(int wait_ms) {
  if (!child_.pidfd) return true;
  pollfd descriptor{child_.pidfd.get(), POLLIN, 0};
  int found = 0;
  while ((found = poll(&descriptor, 1, wait_ms)) < 0 && errno == EINTR) {
  }
  if (found <= 0) return false;
  read_output();
  siginfo_t ended{};
  while (waitid(P_PIDFD, static_cast<id_t>(child_.pidfd.get()), &ended, WEXITED) != 0 && errno == EINTR) {
  }
  child_.pidfd.reset();
  if (ended.si_code != CLD_EXITED)
    why_not_ = fmt::format("py-spy was ended by signal {}", ended.si_status);
  else if (ended.si_status != 0)
    why_not_ = last_words();
  return true;
}

void PySpy::enter(Stage stage) {
  stage_ = stage;
  entered_s_ = monotonic_s();
}

// Whatever the worker waits for: there is nobody any more.
void PySpy::finish() {
  enter(Stage::ended);
  block_.header().external_profiler.store(ExternalProfiler::gone, std::memory_order_release);
}

void PySpy::give_up(std::string why) {
  if (child_.pidfd) {
    kill(-child_.pid, SIGKILL);
    static_cast<void>(has_ended(-1));
  }
  why_not_ = std::move(why);
  finish();
}

// "Error: …" and the causes that it lists.
std::string PySpy::last_words() const {
  std::string words, text = said_.text();
  if (text.find("Permission Denied") != std::string::npos)
    return "py-spy may not look at the worker: kernel.yama.ptrace_scope, or the container that this is in, forbids it";
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("Stack backtrace")) break;
    if (line.empty() || line.starts_with("py-spy>") || line.starts_with("Caused by")) continue;
    words += (words.empty() ? "" : ", ") + std::string(line.substr(0, 200));
    if (words.size() > 400) break;
  }
  return fmt::format("py-spy failed: {}", words.empty() ? "it says nothing" : words);
}

}  // namespace infermeter
