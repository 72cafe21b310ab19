// --html FILE: the report as one page that opens from disk, beside what is printed.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <span>
#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/report/forms/document.hpp"

namespace infermeter {

struct HtmlFlag {
  std::string file;  // empty: no page

  void declare(CLI::App& app, const std::string& group);
  [[nodiscard]] bool wanted() const { return !file.empty(); }
  // Refuses now what could not be written later. `made`: a folder that will be there by then.
  [[nodiscard]] Result<Done> check(bool overwrite, const std::filesystem::path& made = {}) const;
  // Writes the page and says where it is, unless `quiet`. Does nothing where none is wanted.
  [[nodiscard]] Result<Done> write(Surroundings& world, std::span<const ReportPart> parts, bool overwrite,
                                   bool quiet) const;
  [[nodiscard]] Result<Done> write(Surroundings& world, const ReportPart& part, bool overwrite, bool quiet) const {
    return write(world, std::span(&part, 1), overwrite, quiet);
  }
};

}  // namespace infermeter
