// The counters of a subject's processes as figures.
#pragma once

#include <vector>

#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

// One figure per name. Of a process that gives a name twice the first counts; a value that is not finite is none.
// Processes that disagree about the unit leave no value.
[[nodiscard]] std::vector<CounterSummary> summarise_counters(const SubjectTimes& times, const Coverage& coverage);

}  // namespace infermeter
