#include "infermeter/worker/ask_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/worker/wall/spawn.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_of_answer = std::size_t{1} << 20;

// Absolute folders alone: what lies in the current one is nobody's program.
fs::path program_in_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "" : variable;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const fs::path file = fs::path(folders.substr(0, end)) / name;
    std::error_code code;
    if (file.is_absolute() && fs::is_regular_file(file, code) && ::access(file.c_str(), X_OK) == 0) return file;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

std::vector<std::string> our_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  return variables;
}

std::string read_answer(int descriptor, const std::atomic<int>* interrupt) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got < 0 && errno == EINTR) {
      static_cast<void>(look_at_interrupts(interrupt));
      continue;
    }
    if (got <= 0) return text;
    text.append(part.data(), std::min(static_cast<std::size_t>(got), most_of_answer - text.size()));
  }
}

}  // namespace

bool has_program(const std::string& name) { return !program_in_path(name).empty(); }

Result<ProgramAnswer> ask_program(const std::string& name, std::vector<std::string> arguments,
                                  const std::atomic<int>* interrupt) {
  const fs::path program = program_in_path(name);
  if (program.empty()) return usage_error(fmt::format("there is no program '{}' in any folder of PATH", name));
  int pipes[2] = {-1, -1};
  if (::pipe2(pipes, O_CLOEXEC) != 0)
    return internal_error(fmt::format("making a pipe failed: {}", std::strerror(errno)));
  const FileDescriptor reading(pipes[0]);
  FileDescriptor writing(pipes[1]);
  std::error_code code;
  SpawnRequest request{.program = program,
                       .arguments = std::move(arguments),
                       .environment = our_environment(),
                       .folder = fs::current_path(code),
                       .output = writing.get(),
                       .cpus = {}};
  INFERMETER_TRY(const Child child, spawn(request));
  writing.reset();
  ProgramAnswer answer{.exit_code = 0, .text = read_answer(reading.get(), interrupt)};
  siginfo_t ended{};
  while (waitid(P_PIDFD, static_cast<id_t>(child.pidfd.get()), &ended, WEXITED) != 0 && errno == EINTR) {
  }
  answer.exit_code = ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status;
  return answer;
}

}  // namespace infermeter
