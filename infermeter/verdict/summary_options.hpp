// The plan's outlier rule, as statistics takes it.
#pragma once

#include "infermeter/plan/plan.hpp"
#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

[[nodiscard]] SummaryOptions summary_options(const OutlierRule& rule);

}  // namespace infermeter
