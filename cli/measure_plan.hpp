// A plan measured from the command line: progress is shown, every trial stored, and the verbs that measure end alike.
#pragma once

#include <optional>
#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/run.hpp"

namespace infermeter {

// `resume`: the id of the unfinished run that is to be finished.
[[nodiscard]] Result<RunRecord> measure_plan(Surroundings& world, Plan plan, const Launcher& launcher, bool quiet,
                                             std::optional<std::string> resume = {});

// OUTPUT_DIR/raw/benchmark_results_YYYYMMDD_HHMMSS.csv
[[nodiscard]] Result<Done> write_csv(const RunRecord& record, const Verdict& verdict, bool resumed);

// Where the run is stored, and how to finish it if it was interrupted.
void say_where(Surroundings& world, const RunRecord& record);

// 130 or 143 where a signal ended the run; otherwise `code`.
[[nodiscard]] int exit_code_of_run(const Surroundings& world, const RunRecord& record, int code);

}  // namespace infermeter
