// validate --diff-images: pictures of the worst differences of outputs that are images.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/fidelity/kept_differences.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

struct DifferencePictures {
  static constexpr std::size_t worst_items = 4;

  std::string folder;  // --diff-images; empty: none
  int slices = 1;      // --diff-slices

  void declare(CLI::App& app);
  // What could not be drawn or written later.
  void check(const Launcher& launcher, bool overwrite, Problems& problems) const;
  // Draws what was kept: a picture for each item, a histogram for each output. The files' names. `outputs` and `items`:
  // what they are called.
  [[nodiscard]] Result<std::vector<std::string>> draw(const Surroundings& world, const Launcher& launcher,
                                                      const KeptDifferences& kept, std::span<const std::string> outputs,
                                                      std::span<const std::string> items, bool overwrite) const;
};

}  // namespace infermeter
