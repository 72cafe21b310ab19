#include "infermeter/verdict/tuning/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/stats/summary/metrics.hpp"

namespace infermeter {
namespace {

constexpr double pilot_allowance = 0.1;

}  // namespace

Finding finding_in(const Expectation& bound, std::span<const Samples> trials, const SummaryOptions& options,
                   bool ended) {
  trials = trials.first(std::min(trials.size(), std::size_t{kMostRounds}));  // the last look has spent all of alpha
  SummaryOptions looked = options;
  const int processes = static_cast<int>(trials.size());
  const double level = round_level(processes, 1 - looked.coverage.confidence, ended);
  looked.coverage.of_processes = std::max(looked.coverage.confidence, 1 - level);
  return finding_from(estimate(*metric_kind(bound.name), subject_times(trials, looked), looked.coverage));
}

bool is_missed_by_pilot(const Expectation& bound, const Samples& pilot, const SummaryOptions& options) {
  const Summary summary = summarise(std::span(&pilot, 1), options);
  const Metric* metric = summary.metric(bound.name);
  if (metric == nullptr || !metric->estimate.value) return false;
  const double value = *metric->estimate.value;
  Interval around = metric->within.value_or(Interval{value, value});
  around.low = std::min(around.low, value) / (1 + pilot_allowance);
  around.high = std::max(around.high, value) * (1 + pilot_allowance);
  return !satisfies(around.low, bound) && !satisfies(around.high, bound) &&
         (bound.relation != Relation::equal || bound.threshold < around.low || bound.threshold > around.high);
}

}  // namespace infermeter
