// The plot of a run: `infermeter report --plot FILE`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

struct PlotFlags {
  std::string file;  // empty: no plot
  std::string metric = "p50";

  void declare(CLI::App& app);
  // Refuses now what could not be drawn or written later.
  [[nodiscard]] Result<Done> check(bool overwrite) const;
};

// Drawn by Python, from the run's JSON report.
[[nodiscard]] Result<Done> write_plot(const Surroundings& world, const PlotFlags& flags, bool overwrite,
                                      const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
