#include "infermeter/stats/summary/counters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/summary/process_interval.hpp"

namespace infermeter {
namespace {

struct Collected {
  const Counter* first = nullptr;
  ProcessValues values;              // of the trials that have one
  const Samples* seen_in = nullptr;  // the last process that named it
  bool units_differ = false;
  bool is_factor = false;  // it varies by factors, as times and rates do
  bool is_share = false;   // of a load: 0 to 1
};

void collect(const Samples& trial, const std::vector<Counter>& counters, std::vector<Collected>& all,
             std::unordered_map<std::string_view, std::size_t>& places) {
  for (const Counter& counter : counters) {
    const auto [place, is_new] = places.try_emplace(counter.name, all.size());
    if (is_new) {
      all.push_back({.first = &counter, .values = {}});
      const LoadFigure* figure = load_figure(counter.name);
      if (figure != nullptr && (figure->of_generation ? trial.generation.has_value() : trial.load.has_value())) {
        all.back().is_share = figure->unit == "share";
        all.back().is_factor = !all.back().is_share;
      }
    }
    Collected& collected = all[place->second];
    if (collected.seen_in == &trial) continue;
    collected.seen_in = &trial;
    collected.units_differ = collected.units_differ || counter.unit != collected.first->unit;
    if (std::isfinite(counter.value)) collected.values.add(trial, counter.value);
  }
}

void add_note(std::string& notes, std::string note) { notes += (notes.empty() ? "" : "; ") + std::move(note); }

Estimate estimate_of(const Collected& collected, std::size_t processes, const Coverage& coverage) {
  Estimate result;
  const std::vector<double> values = collected.values.values();
  result.processes = static_cast<int>(values.size());
  result.n = result.processes;
  result.method = "mean over processes; t interval";
  if (collected.units_differ) {
    result.note = "its unit differs between processes";
    return result;
  }
  if (values.empty()) {
    result.note = "no process gave a finite value";
    return result;
  }
  // A counter may be 0 or negative; times and rates of a load vary by factors, as all times do.
  const double level = coverage.of_processes;
  const Centre centre =
      covering(collected.is_factor ? centre_of(values, level) : arithmetic_centre_of(values, level), coverage);
  if (collected.is_factor && centre.geometric)
    result.method = "geometric mean over processes; t interval on logarithms";
  if (!std::isfinite(centre.value)) {
    result.note = "too large for a floating-point number";
    return result;
  }
  result.value = centre.value;
  result.interval = centre.interval;
  if (collected.is_share && result.interval) {
    result.interval->low = std::max(result.interval->low, 0.0);
    result.interval->high = std::min(result.interval->high, 1.0);
  }
  if (values.size() < processes) {
    add_note(result.note, fmt::format("given by {} of {} processes", values.size(), processes));
  }
  if (values.size() < 2) {
    add_note(result.note, "needs 2 processes for an interval");
  } else if (!centre.interval) {
    add_note(result.note, "the processes differ too much for an interval");
  }
  return result;
}

// Of a subject that counts `samples`, the steps of one inference: what an inference takes in all, and each of them.
std::vector<Counter> per_sample(const ProcessTimes& process) {
  const auto samples = std::ranges::find(process.trial->counters, "samples", &Counter::name);
  if (samples == process.trial->counters.end() || !(samples->value > 0) || process.sorted.empty()) return {};
  const double total_s =
      std::reduce(process.sorted.begin(), process.sorted.end()) / static_cast<double>(process.sorted.size());
  if (!(total_s > 0)) return {};
  return {{"time_total", "s", total_s},
          {"time_per_sample", "ms", total_s / samples->value * 1e3},
          {"samples_per_s", "1/s", samples->value / total_s}};
}

}  // namespace

std::vector<CounterSummary> summarise_counters(const SubjectTimes& times, const Coverage& coverage) {
  std::vector<Collected> all;
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<std::vector<Counter>> derived;
  for (const ProcessTimes& process : times.processes) derived.push_back(per_sample(process));
  for (std::size_t i = 0; i < derived.size(); ++i) {
    collect(*times.processes[i].trial, times.processes[i].trial->counters, all, places);
  }
  const auto own = places;  // of these names the subject's own counters count
  for (std::size_t i = 0; i < derived.size(); ++i) {
    std::erase_if(derived[i], [&](const Counter& counter) { return own.contains(counter.name); });
    collect(*times.processes[i].trial, derived[i], all, places);
  }
  // Behind what they are derived from: a table shows the first ones.
  const auto samples = std::ranges::find_if(all, [](const Collected& one) { return one.first->name == "samples"; });
  if (samples != all.end()) std::rotate(samples + 1, all.begin() + static_cast<std::ptrdiff_t>(own.size()), all.end());
  std::vector<CounterSummary> summaries;
  summaries.reserve(all.size());
  for (const Collected& collected : all) {
    summaries.push_back(
        {collected.first->name, collected.first->unit, estimate_of(collected, times.replications, coverage)});
  }
  return summaries;
}

}  // namespace infermeter
