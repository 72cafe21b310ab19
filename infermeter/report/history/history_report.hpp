// What a report of histories shows.
#pragma once

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

}  // namespace infermeter
