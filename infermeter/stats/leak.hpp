// Does memory grow with the number of iterations?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infermeter/stats/summary.hpp"

namespace infermeter {

enum class LeakVerdict { leak, no_leak, cannot_tell };
[[nodiscard]] std::string_view to_string(LeakVerdict verdict);

struct LeakEstimate {
  LeakVerdict verdict = LeakVerdict::cannot_tell;
  double bytes_per_iteration = 0;    // slope over the part that is judged
  std::optional<Interval> interval;  // of the slope, 95 %, respecting autocorrelation
  std::size_t from = 0;              // index of the first point that is judged: what is before is the arena's growth
  double growth_bytes = 0;           // last less first, over the judged part
  std::string reason;                // one sentence
};

// Memory (bytes) after so many iterations, ascending; at least 20 points. Slope by least squares with a
// heteroscedasticity- and autocorrelation-consistent interval (Newey & West 1987; bandwidth and fixed-b critical values
// as the .cpp says). A leak is a slope whose interval excludes 0 and that goes on to the end: growth that stops (an arena,
// a cache that fills) is none. `smallest_leak`: bytes per iteration that are not worth an alarm.
[[nodiscard]] LeakEstimate judge_leak(std::span<const double> iterations, std::span<const double> bytes,
                                      double smallest_leak = 100);

}  // namespace infermeter
