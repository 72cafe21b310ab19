// What the reports of histories say.
#pragma once

#include <vector>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/report/history/history_report.hpp"

namespace infermeter {

// One for each series: its alarm, its last change, or that there is none.
[[nodiscard]] std::vector<WordedAnswer> worded_answers(const HistoryReport& report);
// Of all its series.
[[nodiscard]] std::vector<Check> history_checks(const HistoryReport& report);

void write_history(JsonWriter& json, const HistoryReport& report, bool with_runs);

}  // namespace infermeter
