// Reports of histories: what the values of a series did over time, for people and as JSON
// (docs/schema/history.schema.json). Pure, like every report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/verdict/history.hpp"

namespace infermeter {

// How an alarm can be confirmed: measure the builds before and after it side by side.
struct Confirmation {
  std::string command;  // as a shell takes it; empty: the two builds cannot both be had
  std::string why_not;  // then: a sentence
};

struct HistoryEntry {
  History history;
  std::optional<Confirmation> confirmation;  // of its alarm
};

struct HistoryReport {
  std::string metric;
  std::string this_machine;  // fingerprint
  std::vector<MachineName> machines;
  std::vector<HistoryEntry> entries;
  int hidden_runs = 0;  // of the same series, on machines that were not asked for
};

// A line for each series.
[[nodiscard]] std::string render_series_list(const HistoryReport& report, std::size_t width);
// Each in full: chart, levels, changes, alarm.
[[nodiscard]] std::string render_history(const HistoryReport& report, std::size_t width);
// `with_runs`: with the figures of every run.
[[nodiscard]] std::string render_history_json(const HistoryReport& report, bool with_runs);

// One character for each value, or for the median of neighbouring ones where there are more than `width`: "▁▂▂█".
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t width);

}  // namespace infermeter
