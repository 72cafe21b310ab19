// report --profile-files FOLDER: a run's profiles as files for other tools.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

struct ProfileFilesFlag {
  std::string folder;
  CLI::Option* option = nullptr;

  void declare(CLI::App& app);
  [[nodiscard]] bool wanted() const { return option != nullptr && option->count() > 0; }
  // Refuses now what could not be written later.
  [[nodiscard]] Result<Done> check(bool overwrite) const;
  // Makes the folder and says what is in it.
  [[nodiscard]] Result<Done> write(Surroundings& world, const RunRecord& record, bool overwrite) const;
};

}  // namespace infermeter
