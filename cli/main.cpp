// infermeter: the process around the command line. Streams, terminal, environment and signals are found here and handed
// in.
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "cli/signals.hpp"
#include "cli/surroundings.hpp"

namespace {

// Tables need some room and no eye follows 300 columns.
std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::min<std::size_t>(std::max<std::size_t>(size.ws_col, 60), 160);
}

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

// A pipe that nobody reads any more.
bool reader_is_gone() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const infermeter::InterruptFlags flags = infermeter::catch_signals();
  infermeter::Surroundings world{.arguments = {argv, argv + argc},
                                 .out = std::cout,
                                 .err = std::cerr,
                                 .out_is_terminal = isatty(STDOUT_FILENO) != 0,
                                 .err_is_terminal = isatty(STDERR_FILENO) != 0,
                                 .width = terminal_width(),
                                 .variable = variable,
                                 .reader_is_gone = reader_is_gone,
                                 .interrupt = flags.interrupt,
                                 .signal = flags.signal};
  return infermeter::run_command_line(world);
}
