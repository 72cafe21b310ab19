// The plan's outlier rule and how intervals cover, as statistics takes them.
#pragma once

#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

[[nodiscard]] SummaryOptions summary_options(const RunRecord& record);

}  // namespace infermeter
