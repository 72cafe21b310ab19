#include <cmath>

#include <fmt/format.h>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/metrics.hpp"
#include "infermeter/stats/process_interval.hpp"
#include "infermeter/stats/process_times.hpp"
#include "infermeter/stats/summary.hpp"

namespace infermeter {
namespace {

// Of the two estimates, where no interval can be made from single processes.
std::optional<Centre> plain_ratio(const Estimate& above, const Estimate& below) {
  if (!(*above.value > 0) || !(*below.value > 0)) return std::nullopt;
  return Centre{*above.value / *below.value, std::nullopt, true};
}

std::string missing(const Estimate& baseline, const Estimate& candidate) {
  if (!baseline.value && !candidate.value && baseline.note == candidate.note) return baseline.note;
  if (!baseline.value) return "the baseline: " + baseline.note;
  return candidate.note;
}

void set_centre(Estimate& result, const std::optional<Centre>& centre, bool enough_processes) {
  if (!centre || !std::isfinite(centre->value)) {
    result.note = "no ratio: a value is 0 or the two are too far apart";
    return;
  }
  result.value = centre->value;
  result.interval = centre->interval;
  if (centre->interval) return;
  result.note =
      enough_processes ? "the processes differ too much for an interval" : "needs 2 processes of each for an interval";
}

}  // namespace

Ratio ratio(std::span<const Samples> baseline, std::span<const Samples> candidate, std::string_view metric,
            const SummaryOptions& options) {
  INFERMETER_CHECK(options.confidence > 0 && options.confidence < 1);
  Ratio result{std::string(metric), {}};
  Estimate& estimate_of_ratio = result.estimate;
  const MetricKind* kind = metric_kind(metric);
  if (kind == nullptr) {
    estimate_of_ratio.note = fmt::format("there is no metric '{}'", metric);
    return result;
  }
  const SubjectTimes before = subject_times(baseline, options);
  const SubjectTimes after = subject_times(candidate, options);
  const Estimate old_estimate = estimate(*kind, before, options.confidence);
  const Estimate new_estimate = estimate(*kind, after, options.confidence);
  estimate_of_ratio.n = old_estimate.n + new_estimate.n;
  estimate_of_ratio.processes = old_estimate.processes + new_estimate.processes;
  if (!old_estimate.value || !new_estimate.value) {
    estimate_of_ratio.note = missing(old_estimate, new_estimate);
    return result;
  }
  const auto old_values = process_values(*kind, before);
  const auto new_values = process_values(*kind, after);
  if (!kind->per_process()) {
    estimate_of_ratio.method = "ratio of the two values";
    const bool lower = kind->lower_is_better;
    set_centre(estimate_of_ratio,
               lower ? plain_ratio(old_estimate, new_estimate) : plain_ratio(new_estimate, old_estimate), true);
    if (estimate_of_ratio.value) estimate_of_ratio.note = "no interval for this metric";
    return result;
  }
  estimate_of_ratio.method = "ratio of geometric means over processes; Welch's t interval on logarithms";
  const auto& above = kind->lower_is_better ? old_values : new_values;
  const auto& below = kind->lower_is_better ? new_values : old_values;
  set_centre(estimate_of_ratio, ratio_of(above, below, options.confidence), above.size() >= 2 && below.size() >= 2);
  return result;
}

}  // namespace infermeter
