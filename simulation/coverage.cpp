#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/stats/summary/summary.hpp"
#include "simulation/blocks.hpp"
#include "simulation/comparison.hpp"
#include "simulation/methods.hpp"

namespace infermeter::study {
namespace {

constexpr Target near_95_percent = {0.93, 0.97};
constexpr double effect = 0.01;

bool holds(const std::optional<Interval>& interval, double value) {
  return interval && interval->low <= value && value <= interval->high;
}

// --- of a difference
// ----------------------------------------------------------------------------------------------------

template <typename Covers>
void add_row(const Families& families, const std::string& what, const Comparison& comparison, Target target,
             const Effort& effort, const Covers& covers, Table& table) {
  for (const Family& family : families) {
    const int hits = count(effort, what + family.name,
                           [&](SplitMix& random) { return covers(draw_pairs(family, comparison, random)); });
    table.figures.push_back(rate(what, family.name, target, hits, effort.runs));
  }
}

Table of_differences(const Families& families, const Effort& effort) {
  Table table{.caption = "Nominal 95 % intervals of a difference of 1 %", .figures = {}, .across = true};
  const double truth = std::log1p(effect);
  for (const int pairs : {8, 16, 40}) {
    const Comparison comparison{.pairs = pairs, .effect = effect};
    add_row(
        families, fmt::format("Hodges–Lehmann, {} pairs", pairs), comparison, near_95_percent, effort.times(2),
        [&](const Pairs& drawn) { return holds(coin_interval(drawn, 0.95), truth); }, table);
  }
  for (const int pairs : {8, 16, 40}) {
    const Comparison comparison{.pairs = pairs, .effect = effect};
    add_row(
        families, fmt::format("paired t, {} pairs", pairs), comparison, {}, effort,
        [&](const Pairs& drawn) { return holds(t_interval(drawn.differences, 0.95), truth); }, table);
  }
  // Without a stop: a stop is at a look that excludes 0, which says nothing of the effect.
  add_row(
      families, "repeated intervals, all looks at once", {.effect = effect}, at_least(0.94), effort,
      [&](Pairs drawn) {
        for (double& difference : drawn.differences) difference -= truth;
        return !has_direction(take_looks(drawn, {}, false));
      },
      table);
  return table;
}

// --- of one subject
// -----------------------------------------------------------------------------------------------------

struct Processes {
  int count;
  double between, within;
};

// Logarithms of 30 iterations of each.
std::vector<Times> draw(const Processes& processes, SplitMix& random) {
  std::vector<Times> all(static_cast<std::size_t>(processes.count), Times(30));
  for (Times& process : all) {
    const double level = processes.between * random.normal();
    for (double& time : process) time = level + processes.within * random.normal();
  }
  return all;
}

std::optional<Interval> summarised(const std::vector<Times>& processes, const std::string& metric) {
  std::vector<Samples> trials;
  for (const Times& process : processes) {
    Samples trial;
    trial.process = static_cast<int>(trials.size());
    trial.begin_s.assign(process.size(), 0.0);
    for (const double log : process) trial.end_s.push_back(std::exp(log));
    trials.push_back(std::move(trial));
  }
  const Summary summary = summarise(trials, {});
  return summary.metric(metric)->estimate.interval;
}

std::optional<Interval> exponential(const Interval& logs) { return Interval{std::exp(logs.low), std::exp(logs.high)}; }

Table of_a_subject(const Effort& effort) {
  Table table{.caption = "Nominal 95 % intervals of one subject: processes vary by 1 %, their 30 iterations by 2 %",
              .figures = {},
              .across = false};
  const Processes ten{10, 0.01, 0.02};
  const auto add = [&](const std::string& what, const Processes& processes, Target target, const Effort& runs,
                       const auto& interval_of, double truth) {
    const int hits =
        count(runs, what, [&](SplitMix& random) { return holds(interval_of(draw(processes, random), random), truth); });
    table.figures.push_back(rate(what, "", target, hits, runs.runs));
  };
  const Target target{0.935, 0.965};
  add(
      "p50 of 10 processes, as `infermeter run` shows it", ten, target, effort.times(5),
      [](const auto& all, SplitMix&) { return summarised(all, "latency_p50"); }, 1);
  add(
      "mean of 10 processes, as `infermeter run` shows it", ten, target, effort.times(5),
      [](const auto& all, SplitMix&) { return summarised(all, "latency_mean"); }, std::exp(0.02 * 0.02 / 2));
  add(
      "t of all 300 iterations, as if they were independent", ten, {}, effort,
      [](const auto& all, SplitMix&) { return exponential(*t_interval(pooled(all), 0.95)); }, 1);
  add(
      "percentile bootstrap of 10 processes", ten, {}, effort,
      [](const auto& all, SplitMix& random) { return exponential(percentile_bootstrap(levels_of(all), random)); }, 1);
  add(
      "percentile bootstrap of 5 processes", {5, 0.01, 0.02}, {}, effort,
      [](const auto& all, SplitMix& random) { return exponential(percentile_bootstrap(levels_of(all), random)); }, 1);
  add(
      "two-level bootstrap of 3 processes", {3, 0.01, 0.02}, {}, effort,
      [](const auto& all, SplitMix& random) { return exponential(two_level_bootstrap(all, random)); }, 1);
  return table;
}

}  // namespace

Block coverage(const Families& families, const Effort& effort) {
  Block block{
      .number = 3, .title = "Coverage", .question = "How often do intervals hold the truth?", .text = {}, .tables = {}};
  block.text =
      "How often the interval holds the truth. A repeated interval is shown at each look and must hold it at all of "
      "them "
      "together; that those are too wide when looked at one by one is their purpose. Intervals of percentiles are the "
      "wider of two, so "
      "that with few processes they hold more than 95 %; of latencies with two values they hold one value or both.";
  block.tables.push_back(of_differences(families, effort));
  block.tables.push_back(of_a_subject(effort));
  for (Table& table : tail_percentiles(effort)) block.tables.push_back(std::move(table));
  return block;
}

}  // namespace infermeter::study
