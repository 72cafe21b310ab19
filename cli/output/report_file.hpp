// Reports that were written as JSON, as runs that others are compared with.
#pragma once

#include <string>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// "baselines/release.json": a file, not the name or the id of a run.
[[nodiscard]] bool is_report_file(const std::string& name);
[[nodiscard]] Result<RunRecord> read_report_file(const std::string& file);

}  // namespace infermeter
