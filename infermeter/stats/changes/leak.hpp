// Does memory grow with the number of iterations?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

enum class LeakVerdict { leak, no_leak, cannot_tell };
[[nodiscard]] std::string_view to_string(LeakVerdict verdict);

struct LeakEstimate {
  LeakVerdict verdict = LeakVerdict::cannot_tell;
  double bytes_per_iteration = 0;    // slope over the part that is judged
  std::optional<Interval> interval;  // of the slope, 95 %, respecting autocorrelation; none with too few points
  std::size_t from = 0;              // index of the first point that is judged: before it is what the arena may grow in
  double growth_bytes = 0;           // last less first, over the judged part
  // Of no_leak: what a leak must add for this trial to have seen it. One that stays within a huge page while it is
  // judged adds nothing to the resident set.
  std::optional<double> detectable_bytes_per_iteration{};
  std::string reason;  // one sentence
};

// Memory (bytes) after so many iterations, ascending; at least 20 points. The last half is judged: the slope by least
// squares, with an interval that respects autocorrelation (trend.hpp).
//
// leak: the slope is at least `smallest_leak` (bytes per iteration that are not worth an alarm) and its interval
// excludes 0, and each quarter of the judged half sets a new peak, none of them with less than 0.4 of the average
// growth, and the last two together add at least 0.7 of what the first two do, or as much but for two steps: what slows
// down so much is an arena that settles, with a time constant of up to 0.7 of the run. Slope and interval alone would
// not do: the interval is right for noise around a line, and an arena that fills, a cache or a single late allocation
// is none. A quarter of the run that is flat, once growth is over, is judged instead (`from` says where).
//
// no_leak: the slope is 0 to within the interval and the interval's end is below `smallest_leak`; or memory declines
// throughout; or it comes back to the same level from the same peak (a collector's saw).
//
// cannot_tell: all else. A saw with irregular teeth hides a slow leak, and one step late in the run may be the first of
// many.
[[nodiscard]] LeakEstimate judge_leak(std::span<const double> iterations, std::span<const double> bytes,
                                      double smallest_leak = 100);

}  // namespace infermeter
