// The plan's outlier rule and how intervals cover, as statistics takes them.
#pragma once

#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

[[nodiscard]] SummaryOptions summary_options(const RunRecord& record);

// Of one of `open` ratios that are tested as one family.
[[nodiscard]] Coverage coverage_in_family(const RunRecord& record, std::size_t open);

}  // namespace infermeter
