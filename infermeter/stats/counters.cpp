#include "infermeter/stats/counters.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "infermeter/stats/process_interval.hpp"

namespace infermeter {
namespace {

struct Collected {
  const Counter* first = nullptr;
  std::vector<double> values;        // one per process that has one
  const Samples* seen_in = nullptr;  // the last process that named it
  bool units_differ = false;
};

void collect(const Samples& trial, std::vector<Collected>& all,
             std::unordered_map<std::string_view, std::size_t>& places) {
  for (const Counter& counter : trial.counters) {
    const auto [place, is_new] = places.try_emplace(counter.name, all.size());
    if (is_new) all.push_back({.first = &counter, .values = {}});
    Collected& collected = all[place->second];
    if (collected.seen_in == &trial) continue;
    collected.seen_in = &trial;
    collected.units_differ = collected.units_differ || counter.unit != collected.first->unit;
    if (std::isfinite(counter.value)) collected.values.push_back(counter.value);
  }
}

void add_note(std::string& notes, std::string note) { notes += (notes.empty() ? "" : "; ") + std::move(note); }

Estimate estimate_of(const Collected& collected, std::size_t processes, double confidence) {
  Estimate result;
  result.processes = static_cast<int>(collected.values.size());
  result.n = result.processes;
  result.method = "mean over processes; t interval";
  if (collected.units_differ) {
    result.note = "its unit differs between processes";
    return result;
  }
  if (collected.values.empty()) {
    result.note = "no process gave a finite value";
    return result;
  }
  const Centre centre = arithmetic_centre_of(collected.values, confidence);
  if (!std::isfinite(centre.value)) {
    result.note = "too large for a floating-point number";
    return result;
  }
  result.value = centre.value;
  result.interval = centre.interval;
  if (collected.values.size() < processes) {
    add_note(result.note, fmt::format("given by {} of {} processes", collected.values.size(), processes));
  }
  if (collected.values.size() < 2) {
    add_note(result.note, "needs 2 processes for an interval");
  } else if (!centre.interval) {
    add_note(result.note, "the processes differ too much for an interval");
  }
  return result;
}

}  // namespace

std::vector<CounterSummary> summarise_counters(const SubjectTimes& times, double confidence) {
  std::vector<Collected> all;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const ProcessTimes& process : times.processes) collect(*process.trial, all, places);
  std::vector<CounterSummary> summaries;
  summaries.reserve(all.size());
  for (const Collected& collected : all) {
    summaries.push_back(
        {collected.first->name, collected.first->unit, estimate_of(collected, times.processes.size(), confidence)});
  }
  return summaries;
}

}  // namespace infermeter
