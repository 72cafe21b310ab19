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

// One side of the ratio.
struct Side {
  SubjectTimes times;
  Estimate estimate;
};

Side side_of(const MetricKind& kind, std::span<const Samples> trials, const SummaryOptions& options) {
  Side side{subject_times(trials, options, kind.needs_order() ? Wanted::sorted : Wanted::any_order), {}};
  side.estimate = estimate(kind, side.times, options.confidence);
  return side;
}

void ratio_over_processes(const MetricKind& kind, const Side& above, const Side& below, double confidence,
                          Estimate& result) {
  const auto numerator = process_values(kind, above.times);
  const auto denominator = process_values(kind, below.times);
  result.method = "ratio of geometric means over processes; Welch's t interval on logarithms";
  set_centre(result, ratio_of(numerator, denominator, confidence), numerator.size() >= 2 && denominator.size() >= 2);
}

void ratio_of_values(const Side& above, const Side& below, Estimate& result) {
  result.method = "ratio of the two values";
  set_centre(result, plain_ratio(above.estimate, below.estimate), true);
  if (result.value) result.note = "no interval for this metric";
}

}  // namespace

Ratio ratio(std::span<const Samples> baseline, std::span<const Samples> candidate, std::string_view metric,
            const SummaryOptions& options) {
  INFERMETER_CHECK(options.confidence > 0 && options.confidence < 1);
  Ratio result{std::string(metric), {}};
  const MetricKind* kind = metric_kind(metric);
  if (kind == nullptr) {
    result.estimate.note = fmt::format("there is no metric '{}'", metric);
    return result;
  }
  const Side before = side_of(*kind, baseline, options);
  const Side after = side_of(*kind, candidate, options);
  result.estimate.n = before.estimate.n + after.estimate.n;
  result.estimate.processes = before.estimate.processes + after.estimate.processes;
  const Side& above = kind->lower_is_better ? before : after;
  const Side& below = kind->lower_is_better ? after : before;
  if (!before.estimate.value || !after.estimate.value) {
    result.estimate.note = missing(before.estimate, after.estimate);
  } else if (kind->per_process()) {
    ratio_over_processes(*kind, above, below, options.confidence, result.estimate);
  } else {
    ratio_of_values(above, below, result.estimate);
  }
  return result;
}

}  // namespace infermeter
