// validate --layers: where two subjects part.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string>

#include "cli/flags/html_flag.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

struct LayersFlags {
  bool wanted = false;  // --layers
  std::string plot;     // --layers-plot; empty: none

  void declare(CLI::App& app);
  // What could not be drawn or written later.
  void check(const Launcher& launcher, bool overwrite, Problems& problems) const;
};

struct LayersOutput {
  bool json = false, overwrite = false, quiet = false;
  HtmlFlag html;
};

// Runs the plan's two subjects and prints where they part; the plot, if asked for. The exit code: 1 if there is a jump.
[[nodiscard]] Result<int> show_layers(Surroundings& world, const LayersFlags& flags, const Plan& plan,
                                      const std::array<ModelFacts, 2>& models, const Launcher& launcher,
                                      const LayersOutput& output);

}  // namespace infermeter
