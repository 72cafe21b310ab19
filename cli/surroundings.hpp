// Surroundings: everything that the command line has of the world, handed in, so that all of it runs in memory in
// tests.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace infermeter {

// Columns that may be asked for.
inline constexpr std::size_t kNarrowest = 60, kWidest = 500;

struct Surroundings {
  std::vector<std::string> arguments;  // the program's name first
  std::ostream& out;                   // results, nothing else
  std::ostream& err;                   // progress and errors
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  // Columns of the terminal that `err` is, as it is at the moment; at least 20.
  std::function<std::size_t()> err_width = [] { return std::size_t{80}; };
  std::size_t width = 80;  // columns for tables: of the terminal, or what was asked for; 80 without either
  std::optional<std::size_t> asked_width{};  // by --width or COLUMNS: for files as well
  // An environment variable that is set and not empty.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // Has whoever read our results gone away (`| head`)? That is no failure of ours.
  std::function<bool()> reader_is_gone{};
  // 0; 1: stop after the current iteration; 2: at once. `signal` is the one that came first.
  const std::atomic<int>* interrupt = nullptr;
  const std::atomic<int>* signal = nullptr;
};

// Parses, does what was asked for and returns the exit code of docs/cli.md.
[[nodiscard]] int run_command_line(Surroundings& world);

}  // namespace infermeter
