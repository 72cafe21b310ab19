#include "mischief.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "sdk/abi_edge.hpp"
#include "sdk/options.hpp"

namespace infermeter {
namespace {

std::string where(Place here, std::uint64_t inference) {
  if (here == Place::load) return "while loading";
  if (here == Place::compile) return "while compiling";
  if (here == Place::outputs) return "when asked for its outputs, time " + std::to_string(inference);
  if (here == Place::profile) return "at the end of its profile";
  return "in inference " + std::to_string(inference);
}

imb_status failure_status(Place here) {
  return here == Place::load || here == Place::compile ? IMB_MODEL_ERROR : IMB_RUN_ERROR;
}

int try_to_open(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  close(file);
  return 0;
}

}  // namespace

Trigger trigger_from(std::string_view text) {
  if (text == "load") return {Place::load};
  if (text == "compile") return {Place::compile};
  if (text == "run") return {Place::run};
  if (text == "profile") return {Place::profile};
  const auto counted = [text](Place place, std::string_view before) -> Trigger {
    return {place, parse_integer<std::uint64_t>(text.substr(before.size()), 1, UINT64_MAX)};
  };
  if (text.starts_with("run:")) return counted(Place::run, "run:");
  if (text.starts_with("outputs:")) return counted(Place::outputs, "outputs:");
  throw std::invalid_argument("");
}

void misbehave(const Triggers& triggers, Place here, std::uint64_t inference) {
  const auto fires = [&](const Trigger& trigger) { return trigger.fires(here, inference); };
  if (fires(triggers.fail)) fail(failure_status(here), "fake was told to fail " + where(here, inference));
  if (fires(triggers.out_of_memory)) {
    fail(IMB_OUT_OF_MEMORY, "fake was told to run out of memory " + where(here, inference));
  }
  if (fires(triggers.crash)) {
    std::signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  if (fires(triggers.abort)) std::abort();
  if (fires(triggers.kill)) raise(SIGKILL);
  if (fires(triggers.exit)) _exit(0);
  if (fires(triggers.stop)) raise(SIGSTOP);
  while (fires(triggers.hang)) pause();
}

void spew(std::uint64_t bytes, bool endless) {
  static constexpr std::string_view line =
      "fake: this line is noise that it was told to write to stderr, and nothing else\n";
  for (std::uint64_t written = 0; endless || written < bytes;) {
    const auto size = endless ? line.size() : std::min<std::uint64_t>(line.size(), bytes - written);
    const ssize_t done = write(STDERR_FILENO, line.data(), size);
    if (done < 0 && errno != EINTR) return;
    if (done > 0) written += static_cast<std::uint64_t>(done);
  }
}

void leak(std::uint64_t bytes) {
  if (bytes == 0) return;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(IMB_OUT_OF_MEMORY, "fake could not allocate " + std::to_string(bytes) + " bytes");
  std::memset(memory, 0x5A, bytes);
}

int start_child(bool in_session, std::uint64_t bytes) {
  int numbers[2];
  if (pipe(numbers) != 0) fail(IMB_RUN_ERROR, "fake could not make a pipe");
  const pid_t between = in_session ? fork() : 0;
  if (between < 0) fail(IMB_RUN_ERROR, "fake could not start a process");
  const bool starts = between == 0;
  const pid_t child = starts ? fork() : -1;
  if (child == 0) {
    if (in_session) setsid();
    leak(bytes);
    const int number = getpid();
    if (write(numbers[1], &number, sizeof number) != static_cast<ssize_t>(sizeof number)) _exit(1);
    for (;;) pause();
  }
  if (in_session && starts) _exit(0);
  if (in_session) waitpid(between, nullptr, 0);
  int number = -1;
  const ssize_t got = read(numbers[0], &number, sizeof number);
  close(numbers[0]);
  close(numbers[1]);
  if (got != static_cast<ssize_t>(sizeof number)) fail(IMB_RUN_ERROR, "fake could not start a process");
  return number;
}

int try_to_write(const std::string& path) { return try_to_open(path, O_WRONLY | O_CREAT); }

int try_to_read(const std::string& path) { return try_to_open(path, O_RDONLY); }

// To the machine's own discard port. A refusal by the port itself shows that nothing held us back: it counts as
// success.
int try_to_connect() {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return errno;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int result = connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = result == 0 || errno == ECONNREFUSED ? 0 : errno;
  close(connection);
  return error;
}

int try_to_execute() {
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(errno == 0 ? 1 : std::min(errno, 255));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

}  // namespace infermeter
