// A program of the system's asked for a short answer: a scheduler's own commands.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct ProgramAnswer {
  int exit_code = 0;  // 128 + the signal that ended it
  std::string text;   // of both its streams, at most 1 MiB
};

// Is there such a program in a folder of PATH?
[[nodiscard]] bool has_program(const std::string& name);

// Runs it in the current folder, with our environment, and waits until it ends; a Ctrl-C does not reach it, and
// counts as heard meanwhile. An error: it is in no folder of PATH, or cannot be started.
[[nodiscard]] Result<ProgramAnswer> ask_program(const std::string& name, std::vector<std::string> arguments,
                                                const std::atomic<int>* interrupt = nullptr);

}  // namespace infermeter
