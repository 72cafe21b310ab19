// Where a report goes and in which form: the flags that `run` and `report` share, so that both print the same bytes.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/report/report.hpp"

namespace infermeter {

struct ReportOutput {
  std::string file;  // empty: standard output
  bool force = false;
  bool no_samples = false;

  void declare(CLI::App& app);
  // Refuses now what could not be written later.
  [[nodiscard]] Result<Done> check() const;
  [[nodiscard]] Result<Done> write(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                   Format format) const;
};

[[nodiscard]] bool use_color(const Surroundings& world);

// OUTPUT_DIR/infermeter.db
[[nodiscard]] std::filesystem::path store_file(const std::filesystem::path& output_dir);

}  // namespace infermeter
