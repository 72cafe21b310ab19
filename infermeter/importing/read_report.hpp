// A JSON report (`--format json`) read back as the run that it is of: a front door of the library; infermeter.hpp
// includes it.
#pragma once

#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Its plan, machine, models and trials with every iteration. Comparisons of outputs, profiles and pilots are not read.
// Refused: what is no such report, a run that was not finished, a report without iterations (--no-samples).
[[nodiscard]] Result<RunRecord> record_from_report(std::string_view json);

}  // namespace infermeter
