// A race of settings in words and as a table.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// One of tuning_answers(record, verdict) in words, without what is said besides.
[[nodiscard]] std::string tuning_sentence(const RunRecord& record, const Verdict& verdict, const Answer& answer);

// "24 settings, by latency p50"
[[nodiscard]] std::string tuning_title(const RunRecord& record);
// A row per setting: the best first, then its equals, those not distinguished, and those that were left behind.
[[nodiscard]] Grid tuning_grid(const RunRecord& record, const Verdict& verdict);
// What stands below it: how to measure the best one again, what the columns mean, and what was left out before anything
// ran.
[[nodiscard]] std::vector<std::string> tuning_notes(const RunRecord& record, const Verdict& verdict);

// Its label without the model, where all have the same.
[[nodiscard]] std::string setting_label(const RunRecord& record, int subject);
// The fate of a setting in words: "best", "undecided", "worse", "beyond peak_memory < 1GB".
[[nodiscard]] std::string fate_text(const TunedSetting& setting);

}  // namespace infermeter
