// The plan's outlier rule and how intervals cover, as statistics takes them.
#pragma once

#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

[[nodiscard]] SummaryOptions summary_options(const RunRecord& record);

// Do processes of the same number belong together? Not those of two runs, nor those of files that other tools wrote.
[[nodiscard]] Pairing pairing_of(const RunRecord& record);

// Of one of `open` ratios that are tested as one family.
[[nodiscard]] Coverage coverage_in_family(const RunRecord& record, std::size_t open);

}  // namespace infermeter
