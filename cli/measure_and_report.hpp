// What the measuring verbs have in common once there is a plan: check it against this machine, measure, store, report.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cli/flags/verbosity.hpp"
#include "cli/measure_plan.hpp"
#include "cli/output/profile_files.hpp"
#include "cli/output/report_output.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

struct MeasureRequest {
  Plan plan{};
  Format format = Format::table;
  bool dry_run = false;
  Verbosity verbosity{};
  // Of a plan that was checked for all its subjects already (RunCheck::models): it is not checked again.
  std::optional<std::map<std::string, ModelFacts>> models{};
  std::optional<std::string> resume{};  // the id of the unfinished run that is to be finished
  ProfileFilesFlag profile_files{};     // of `infermeter profile`
  std::string winner_file{};            // of `infermeter tune`: a plan file of the best setting; empty: none
  bool keeps_refusals = false;          // as in RunContext
  // Of verbs with a report of their own, in place of report_measured.
  std::function<Result<int>(MeasuredPlan)> report{};
};

// What of the files to be written cannot be.
void check_files(const MeasureRequest& request, const ReportOutput& output, Problems& problems);
// The plan, in place of measuring it; 0.
[[nodiscard]] Result<int> show_plan(Surroundings& world, const MeasureRequest& request);
// Report, page and files of what was measured; the exit code.
[[nodiscard]] Result<int> report_measured(Surroundings& world, MeasuredPlan measured, const MeasureRequest& request,
                                          const ReportOutput& output);
// The exit code.
[[nodiscard]] Result<int> measure_and_report(Surroundings& world, MeasureRequest request, const ReportOutput& output);

}  // namespace infermeter
