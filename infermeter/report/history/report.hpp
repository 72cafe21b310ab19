// Reports of histories: what the values of a series did over time, for people and as JSON
// (docs/schema/history.schema.json). Pure, like every report.
#pragma once

#include <cstddef>
#include <string>

#include "infermeter/report/history/history_report.hpp"

namespace infermeter {

// A line for each series.
[[nodiscard]] std::string render_series_list(const HistoryReport& report, std::size_t width);
// Each in full: chart, levels, changes, alarm.
[[nodiscard]] std::string render_history(const HistoryReport& report, std::size_t width);
// `with_runs`: with the figures of every run.
[[nodiscard]] std::string render_history_json(const HistoryReport& report, bool with_runs);

}  // namespace infermeter
