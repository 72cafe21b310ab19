// find_rate: the highest rate that meets an objective, within one process and a given time.
//
// First as many requests as there are clients tell how many can be served at all; then rates are tried by a
// RateSearch, each with arrivals of its own; the rest of the time goes to a load at the rate that was found.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "infermeter/trial/load/load_loop.hpp"
#include "infermeter/trial/load/rate_search.hpp"

namespace infermeter {

struct RateTimes {
  double capacity_s = 0, search_s = 0;  // of the whole; what is left of it is the last part's
  double longest_step_s = 0;
};
[[nodiscard]] constexpr RateTimes rate_times(double whole_s) {
  return {.capacity_s = 0.08 * whole_s, .search_s = 0.6 * whole_s, .longest_step_s = 0.1 * whole_s};
}

// So many requests make a step: ten of them lie beyond the percentile. Of fewer, the queue has not built up yet that
// such a rate has in the long run, and what is found is too high.
[[nodiscard]] inline double requests_of_step(double percentile) { return std::ceil(10 / (1 - percentile)); }

[[nodiscard]] inline LoadStepRecord step_of(double rate, const LoadObjective& objective, const LoadRecord& record) {
  const double response_s = record.response.quantile_s(objective.percentile).value_or(0);
  const bool met = !record.gave_up && record.failed == 0 && record.completed > 0 && response_s <= objective.bound_s;
  return {rate, record.completed, response_s, met};
}

// `run_load(orders, seed, keeps)` -> pair of LoopEnd and LoadRecord; `keeps`: its times are the trial's.
template <class RunLoad>
[[nodiscard]] std::pair<LoopEnd, LoadRecord> find_rate(const LoadShape& shape, double whole_s, double tick_s,
                                                       std::uint64_t seed, bool counts_failures, RunLoad run_load) {
  const LoadObjective objective = *shape.find_rate;
  const RateTimes times = rate_times(whole_s);
  const auto ticks = [tick_s](double seconds) { return static_cast<std::uint64_t>(seconds / tick_s); };
  LoadOrders orders{.shape = {.scenario = LoadScenario::offline, .concurrency = shape.concurrency},
                    .arrivals_ticks = ticks(times.capacity_s),
                    .tick_s = tick_s,
                    .counts_failures = counts_failures};
  auto [end, record] = run_load(orders, seed, false);
  if (end != LoopEnd::complete || record.completed == 0) return {end, std::move(record)};
  const double capacity = static_cast<double>(record.completed) / record.duration_s;

  double spent_s = record.duration_s;
  RateSearch search(capacity * 1.1);
  std::vector<LoadStepRecord> steps;
  orders.shape = shape;
  constexpr double narrow_enough = 0.005;
  while (spent_s < times.search_s && steps.size() + 1 < kMostLoadSteps && search.width() > narrow_enough) {
    orders.shape.rate = search.next();
    const double wanted_s = requests_of_step(objective.percentile) / orders.shape.rate;
    // A queue near the limit takes many response times to build up.
    const double shortest_s = std::max(1.0, 20 * objective.bound_s);
    const double step_s = std::min(std::max(wanted_s, shortest_s), times.longest_step_s);
    orders.arrivals_ticks = ticks(step_s);
    // Who would miss the objective by then need not be waited for.
    orders.patience_ticks = ticks(std::min(2 * objective.bound_s, times.longest_step_s));
    std::tie(end, record) = run_load(orders, ++seed, false);
    spent_s += record.duration_s;
    if (end != LoopEnd::complete) return {end, std::move(record)};
    if (record.due == 0) continue;
    steps.push_back(step_of(orders.shape.rate, objective, record));
    search.observe(orders.shape.rate, steps.back().met);
  }

  orders.shape.rate = search.next();
  const double rest_s = std::max(whole_s - spent_s, times.longest_step_s);
  orders.arrivals_ticks = orders.patience_ticks = ticks(rest_s);
  std::tie(end, record) = run_load(orders, ++seed, true);
  if (end != LoopEnd::complete) return {end, std::move(record)};
  // The longest of all: it has a say as well.
  steps.push_back(step_of(orders.shape.rate, objective, record));
  search.observe(orders.shape.rate, steps.back().met);
  const bool any_met = std::ranges::any_of(steps, [](const LoadStepRecord& step) { return step.met; });
  record.max_rate = any_met ? search.next() : 0;
  record.steps = std::move(steps);
  return {end, std::move(record)};
}

}  // namespace infermeter
