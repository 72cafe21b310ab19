// A plan measured from the command line: progress is shown, every trial stored, and the verbs that measure end alike.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "cli/flags/verbosity.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/run/run.hpp"

namespace infermeter {

struct MeasureOptions {
  std::optional<std::string> resume{};              // the id of the unfinished run that is to be finished
  std::map<std::string, ModelFacts> models{};       // RunContext::models
  std::optional<std::string> part_of{};             // RunContext::part_of
  bool is_checked = false, keeps_refusals = false;  // as in RunContext
  std::optional<Shard> shard{};                     // RunContext::shard
};

// check_run, and whether results can be kept in its output folder: what every verb that measures asks first.
[[nodiscard]] RunCheck check_before_run(const Surroundings& world, const Plan& plan, const Launcher& launcher);
// Its problems, where exit code 3 is a promise that there are reports: a broken model file is a usage error then.
[[nodiscard]] Result<Done> nothing_measured(const Problems& problems);
// Of it the folder alone.
void check_results_folder(const std::filesystem::path& output_dir, Problems& problems);

struct MeasuredPlan {
  RunRecord record;
  // OUTPUT_DIR/raw/benchmark_results_YYYYMMDD_HHMMSS.csv, or in OUTPUT_DIR itself where a folder of it is called raw.
  // Written before the run counts as finished; an interrupted one has it too. Empty where it could not be written.
  std::filesystem::path csv;
  Problems unwritten{};  // what could not be written
};

[[nodiscard]] Result<MeasuredPlan> measure_plan(Surroundings& world, Plan plan, const Launcher& launcher,
                                                Verbosity verbosity, MeasureOptions options = {});

// Writes the run's CSV, and notes where, or why not.
void keep_csv(MeasuredPlan& measured, const RunRecord& record);

// Where the run is stored, and how to finish it if it was interrupted; verbose: all files.
void say_where(Surroundings& world, const MeasuredPlan& measured, Verbosity verbosity);

// The error of what could not be written of a run that was measured, or `code`.
[[nodiscard]] Result<int> unless_unwritten(const Problems& unwritten, int code);

// 130 or 143 where a signal ended the run; otherwise `code`.
[[nodiscard]] int exit_code_of_run(const Surroundings& world, const RunRecord& record, int code);

}  // namespace infermeter
