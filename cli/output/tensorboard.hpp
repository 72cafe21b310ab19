// report --tensorboard: stored runs as a log folder that TensorBoard opens.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

struct TensorBoardFlags {
  std::string folder;    // empty: none
  std::string pictures;  // a folder of them; empty: none

  void declare(CLI::App& app);
  [[nodiscard]] bool wanted() const { return !folder.empty() || !pictures.empty(); }
  // Refuses now what could not be written later.
  [[nodiscard]] Result<Done> check() const;
  // Makes the folder and says how to open it.
  [[nodiscard]] Result<Done> write(Surroundings& world, const std::vector<RunRecord>& runs, bool overwrite) const;
};

}  // namespace infermeter
