#include "infermeter/stats/ratio.hpp"

#include <cmath>

#include <fmt/format.h>

#include "infermeter/diagnostics/check.hpp"
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

void set_ratio_centre(Estimate& result, const std::optional<Centre>& centre, bool enough_processes) {
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

RatioSide side_of(const MetricKind& kind, std::span<const Samples> trials, const SummaryOptions& options) {
  const Wanted wanted = kind.needs_order() ? Wanted::sorted : Wanted::any_order;
  return ratio_side(kind, subject_times(trials, options, wanted), options.confidence);
}

void ratio_over_processes(const RatioSide& above, const RatioSide& below, double confidence, Estimate& result) {
  result.method = "ratio of geometric means over processes; Welch's t interval on logarithms";
  set_ratio_centre(result, ratio_of(above.values, below.values, confidence),
                   above.values.size() >= 2 && below.values.size() >= 2);
}

void ratio_of_values(const RatioSide& above, const RatioSide& below, Estimate& result) {
  result.method = "ratio of the two values";
  set_ratio_centre(result, plain_ratio(above.estimate, below.estimate), true);
  if (result.value) result.note = "no interval for this metric";
}

}  // namespace

RatioSide ratio_side(const MetricKind& kind, const SubjectTimes& times, double confidence) {
  RatioSide side{estimate(kind, times, confidence), {}};
  if (kind.per_process()) side.values = process_values(kind, times);
  return side;
}

Estimate ratio_of_sides(const MetricKind& kind, const RatioSide& baseline, const RatioSide& candidate,
                        double confidence) {
  Estimate result;
  result.n = baseline.estimate.n + candidate.estimate.n;
  result.processes = baseline.estimate.processes + candidate.estimate.processes;
  const RatioSide& above = kind.lower_is_better ? baseline : candidate;
  const RatioSide& below = kind.lower_is_better ? candidate : baseline;
  if (!baseline.estimate.value || !candidate.estimate.value) {
    result.note = missing(baseline.estimate, candidate.estimate);
  } else if (kind.per_process()) {
    ratio_over_processes(above, below, confidence, result);
  } else {
    ratio_of_values(above, below, result);
  }
  return result;
}

Estimate reversed(Estimate ratio) {
  if (ratio.value) ratio.value = 1 / *ratio.value;
  if (ratio.interval) {
    ratio.interval = Interval{1 / ratio.interval->high, 1 / ratio.interval->low, ratio.interval->confidence};
  }
  return ratio;
}

Ratio ratio(std::span<const Samples> baseline, std::span<const Samples> candidate, std::string_view metric,
            const SummaryOptions& options) {
  INFERMETER_CHECK(options.confidence > 0 && options.confidence < 1);
  Ratio result{std::string(metric), {}};
  const MetricKind* kind = metric_kind(metric);
  if (kind == nullptr) {
    result.estimate.note = fmt::format("there is no metric '{}'", metric);
    return result;
  }
  result.estimate =
      ratio_of_sides(*kind, side_of(*kind, baseline, options), side_of(*kind, candidate, options), options.confidence);
  return result;
}

}  // namespace infermeter
