// infermeter: the process around the command line. Streams, terminal, environment and signals are found here and handed
// in.
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>

#include "cli/signals.hpp"
#include "cli/surroundings.hpp"

namespace {

// Of a terminal, at least `least`: no eye follows 300 columns. 80 of what is none.
std::size_t columns_of(int descriptor, std::size_t least) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::clamp<std::size_t>(size.ws_col, least, 160);
}

// People make terminals narrower while something runs, and a line that changes must not wrap.
std::size_t live_width() { return columns_of(STDERR_FILENO, 20); }

// Tables need some room.
std::size_t terminal_width() { return columns_of(STDOUT_FILENO, 60); }

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

// COLUMNS, which shells set for their terminal and people for a pipe.
std::optional<std::size_t> asked_width() {
  const auto columns = variable("COLUMNS");
  if (!columns) return std::nullopt;
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(columns->data(), columns->data() + columns->size(), width);
  if (error != std::errc() || end != columns->data() + columns->size() || width == 0) return std::nullopt;
  return std::clamp(width, infermeter::kNarrowest, infermeter::kWidest);
}

// A pipe that nobody reads any more.
bool reader_is_gone() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

int run_program(int argc, char** argv) {
  const infermeter::InterruptFlags flags = infermeter::catch_signals();
  infermeter::Surroundings world{.arguments = {argv, argv + argc},
                                 .out = std::cout,
                                 .err = std::cerr,
                                 .out_is_terminal = isatty(STDOUT_FILENO) != 0,
                                 .err_is_terminal = isatty(STDERR_FILENO) != 0,
                                 .err_width = live_width,
                                 .width = asked_width().value_or(terminal_width()),
                                 .asked_width = asked_width(),
                                 .variable = variable,
                                 .reader_is_gone = reader_is_gone,
                                 .interrupt = flags.interrupt,
                                 .signal = flags.signal};
  return infermeter::run_command_line(world);
}

constexpr int kOutOfMemory = 4;
std::atomic<bool> memory_ran_out{false};

void note_lack_of_memory() {
  memory_ran_out = true;
  throw std::bad_alloc();
}

void report_lack_of_memory() {
  constexpr std::string_view sentence = "infermeter: memory ran out; what was stored before is kept\n";
  static_cast<void>(write(STDERR_FILENO, sentence.data(), sentence.size()) > 0);
}

// Some functions of the standard library allocate and are noexcept (std::filesystem::directory_iterator::increment).
[[noreturn]] void on_terminate() {
  if (!memory_ran_out) std::abort();
  report_lack_of_memory();
  _exit(kOutOfMemory);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(note_lack_of_memory);
  std::set_terminate(on_terminate);
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    report_lack_of_memory();
    return kOutOfMemory;
  }
}
