// Where a report goes and in which form: the flags that measuring verbs and `report` share, so that all print the same
// bytes.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "cli/flags/html_flag.hpp"
#include "cli/flags/other_names.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/report/report.hpp"

namespace infermeter {

struct ReportOutput {
  std::string file;      // empty: standard output
  std::string folder{};  // of a file that was given as one: --output reports/
  bool force = false;
  bool no_samples = false;
  std::size_t operators = RenderOptions{}.operators;
  HtmlFlag html;

  void declare(CLI::App& app);
  // What is printed; a folder, and a page without a name, get the name "comparison".
  [[nodiscard]] Result<Format> settle(const PlanDraft& draft, const OtherNames& names = {});
  // Refuses now what could not be written later. `made`: a folder that will be there by then.
  void check(Problems& problems, const std::filesystem::path& made = {}) const;
  [[nodiscard]] Result<Done> write(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                   Format format) const;
  // How a report looks where it goes: on the terminal, or in a file.
  [[nodiscard]] RenderOptions look(const Surroundings& world) const;
  [[nodiscard]] Result<Done> write_text(Surroundings& world, const std::string& text) const;
  // The page of the run, where --html asks for one.
  [[nodiscard]] Result<Done> write_page(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                        bool quiet) const;
  [[nodiscard]] RenderOptions page_look() const {
    return {.color = false, .samples = !no_samples, .operators = operators};
  }
};

// The page's part of a run, with what changed since the last one in the store of `place`, if that can be read.
[[nodiscard]] ReportPart page_part(Surroundings& world, const RunRecord& record, const Verdict& verdict,
                                   const RenderOptions& options, const Plan& place);

[[nodiscard]] bool use_color(const Surroundings& world);

}  // namespace infermeter
