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

// "10.0 % slower"
[[nodiscard]] std::string change_text(const History& history, const HistoryChange& change);
// What else changed there: "the runtime's version: 1.20.1 → 1.21.0; …"; empty: nothing that is known.
[[nodiscard]] std::string context_text(const HistoryChange& change);

}  // namespace infermeter
