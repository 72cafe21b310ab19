// Verbosity: how much is said on standard error while a plan is measured.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace infermeter {

enum class Verbosity { quiet, usual, verbose };

struct VerbosityFlags {
  bool quiet = false, verbose = false;

  void declare(CLI::App& app, const std::string& group);
  [[nodiscard]] Verbosity level() const;
};

}  // namespace infermeter
