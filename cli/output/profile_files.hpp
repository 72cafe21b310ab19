// report --profile-files FOLDER: a run's profiles as files for other tools.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/report/profile/export.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

struct ProfileFilesFlag {
  std::string folder;
  CLI::Option* option = nullptr;

  // `how`: "Also write", "Instead of printing: write".
  void declare(CLI::App& app, const std::string& how);
  [[nodiscard]] bool wanted() const { return !folder.empty() || (option != nullptr && option->count() > 0); }
  // Refuses now what could not be written later.
  [[nodiscard]] Result<Done> check(bool overwrite) const;
  // Makes the folder and says what is in it.
  [[nodiscard]] Result<Done> write(Surroundings& world, const RunRecord& record, bool overwrite) const;
};

// Writes files that may be in folders of their own, and makes these. Their bytes together.
[[nodiscard]] Result<double> write_exports(std::string_view flag, const std::filesystem::path& folder,
                                           std::span<const ProfileExport> files, bool overwrite);

}  // namespace infermeter
