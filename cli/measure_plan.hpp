// A plan measured from the command line: progress is shown, every trial stored, and the verbs that measure end alike.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "cli/surroundings.hpp"
#include "cli/verbosity.hpp"
#include "infermeter/run.hpp"

namespace infermeter {

// `resume`: the id of the unfinished run that is to be finished. `models`: RunContext::models.
[[nodiscard]] Result<RunRecord> measure_plan(Surroundings& world, Plan plan, const Launcher& launcher,
                                             Verbosity verbosity, std::optional<std::string> resume = {},
                                             std::map<std::string, ModelFacts> models = {});

// OUTPUT_DIR/raw/benchmark_results_YYYYMMDD_HHMMSS.csv, or in OUTPUT_DIR itself where that is called raw. The file that
// was written.
[[nodiscard]] Result<std::filesystem::path> write_csv(const RunRecord& record, const Verdict& verdict, bool resumed);

// Where the run is stored, and how to finish it if it was interrupted; verbose: all files.
void say_where(Surroundings& world, const RunRecord& record, const std::filesystem::path& csv, Verbosity verbosity);

// 130 or 143 where a signal ended the run; otherwise `code`.
[[nodiscard]] int exit_code_of_run(const Surroundings& world, const RunRecord& record, int code);

}  // namespace infermeter
