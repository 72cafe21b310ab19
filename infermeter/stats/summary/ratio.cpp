#include "infermeter/stats/summary/ratio.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/stats/summary/summary.hpp"

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

constexpr std::size_t least_blocks = 3;  // Student's t of two differences is wider than anybody can use

// Processes of a block ran within a short time, in random order: what drifts slowly is in both and leaves their
// difference (Box, Hunter & Hunter, "Statistics for Experimenters", 2nd ed. 2005, §3.2).
bool shares_blocks(const RatioSide& above, const RatioSide& below) {
  return above.blocks.size() >= least_blocks && above.blocks == below.blocks;
}

void ratio_over_processes(const RatioSide& above, const RatioSide& below, const Coverage& coverage, Pairing pairing,
                          Estimate& result) {
  const auto set = [&](std::optional<Centre> centre, bool enough_processes) {
    if (centre) centre = covering(*centre, coverage);
    set_ratio_centre(result, centre, enough_processes);
  };
  if (pairing == Pairing::blocks && shares_blocks(above, below)) {
    result.method = "ratio of geometric means over processes; paired t interval on logarithms over blocks";
    result.method += widening_note(coverage);
    set(paired_ratio_of(above.values, below.values, coverage.of_processes), true);
    return;
  }
  result.method = "ratio of geometric means over processes; Welch's t interval on logarithms";
  result.method += widening_note(coverage);
  set(ratio_of(above.values, below.values, coverage.of_processes),
      above.values.size() >= 2 && below.values.size() >= 2);
}

// Logarithms of two estimates whose intervals are not symmetric, subtracted (Zou & Donner, "Construction of confidence
// limits about effect measures: a general approach", Stat. Med. 27 (2008) 1693–1702).
std::optional<Interval> interval_of_quotient(const Estimate& above, const Estimate& below) {
  if (!above.interval || !below.interval || !(above.interval->low > 0) || !(below.interval->low > 0)) return {};
  const double one = std::log(*above.value), other = std::log(*below.value);
  const double down = std::hypot(one - std::log(above.interval->low), std::log(below.interval->high) - other);
  const double up = std::hypot(std::log(above.interval->high) - one, other - std::log(below.interval->low));
  return Interval{std::exp(one - other - down), std::exp(one - other + up), above.interval->confidence};
}

void ratio_of_tails(const RatioSide& above, const RatioSide& below, Estimate& result) {
  result.method = "ratio of the two percentiles; interval from theirs by variance recovery on logarithms";
  auto centre = plain_ratio(above.estimate, below.estimate);
  if (centre) centre->interval = interval_of_quotient(above.estimate, below.estimate);
  set_ratio_centre(result, centre, true);
  if (!result.value || result.interval) return;
  result.note = above.estimate.interval ? below.estimate.note : above.estimate.note;
}

void ratio_of_values(const RatioSide& above, const RatioSide& below, Estimate& result) {
  result.method = "ratio of the two values";
  set_ratio_centre(result, plain_ratio(above.estimate, below.estimate), true);
  if (result.value) result.note = "no interval for this metric";
}

bool leaves_out_one(const Estimate& ratio) {
  return ratio.interval && (ratio.interval->low > 1 || ratio.interval->high < 1);
}

}  // namespace

RatioSide ratio_side(const MetricKind& kind, const SubjectTimes& times, const Coverage& coverage) {
  RatioSide side{estimate(kind, times, coverage), {}, {}};
  if (!kind.per_process() || kind.source == MetricKind::Source::tail_percentile) return side;
  const ProcessValues values = collect_process_values(kind, times);
  side.values = values.values();
  side.blocks = values.blocks();
  return side;
}

RatioSide ratio_side(std::span<const Samples> trials, const MetricKind& kind, const SummaryOptions& options) {
  const Wanted wanted = kind.needs_order() ? Wanted::sorted : Wanted::any_order;
  return ratio_side(kind, subject_times(trials, options, wanted), options.coverage);
}

Estimate ratio_of_sides(const MetricKind& kind, const RatioSide& baseline, const RatioSide& candidate,
                        const Coverage& coverage, Pairing pairing) {
  Estimate result;
  result.n = baseline.estimate.n + candidate.estimate.n;
  result.processes = baseline.estimate.processes + candidate.estimate.processes;
  const RatioSide& above = kind.lower_is_better ? baseline : candidate;
  const RatioSide& below = kind.lower_is_better ? candidate : baseline;
  if (!baseline.estimate.value || !candidate.estimate.value) {
    result.note = missing(baseline.estimate, candidate.estimate);
  } else if (kind.source == MetricKind::Source::tail_percentile) {
    ratio_of_tails(above, below, result);
  } else if (kind.per_process()) {
    ratio_over_processes(above, below, coverage, pairing, result);
  } else {
    ratio_of_values(above, below, result);
  }
  return result;
}

std::vector<Estimate> ratios_in_family(const MetricKind& kind, std::span<const RatioSides> family,
                                       const std::function<Coverage(std::size_t)>& coverage_of, Pairing pairing) {
  std::vector<Estimate> ratios(family.size());
  std::vector<std::size_t> open(family.size());
  std::iota(open.begin(), open.end(), 0U);
  for (std::size_t before = 0; before != open.size() && !open.empty();) {
    before = open.size();
    const Coverage coverage = coverage_of(before);
    for (const std::size_t i : open)
      ratios[i] = ratio_of_sides(kind, *family[i].baseline, *family[i].candidate, coverage, pairing);
    std::erase_if(open, [&](std::size_t i) { return leaves_out_one(ratios[i]); });
  }
  return ratios;
}

Estimate reversed(Estimate ratio) {
  if (ratio.value) ratio.value = 1 / *ratio.value;
  if (ratio.interval) {
    ratio.interval = Interval{1 / ratio.interval->high, 1 / ratio.interval->low, ratio.interval->confidence};
  }
  return ratio;
}

Ratio ratio(std::span<const Samples> baseline, std::span<const Samples> candidate, std::string_view metric,
            const SummaryOptions& options, Pairing pairing) {
  INFERMETER_CHECK(options.coverage.confidence > 0 && options.coverage.of_processes < 1);
  Ratio result{std::string(metric), {}};
  const MetricKind* kind = metric_kind(metric);
  if (kind == nullptr) {
    result.estimate.note = fmt::format("there is no metric '{}'", metric);
    return result;
  }
  result.estimate = ratio_of_sides(*kind, ratio_side(baseline, *kind, options), ratio_side(candidate, *kind, options),
                                   options.coverage, pairing);
  return result;
}

}  // namespace infermeter
