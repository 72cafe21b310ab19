#include "infermeter/stats/changes/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "infermeter/stats/changes/cycle.hpp"
#include "infermeter/stats/summary/iterations.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/quantile.hpp"
#include "infermeter/stats/summary/spikes.hpp"

namespace infermeter {
namespace {

constexpr std::size_t minimum_segment = 10;
constexpr double penalty_factor = 15;  // more than the usual 4: iterations depend on each other (Barrett et al.)
constexpr double tolerance = 0.01;     // levels that differ by less are one
constexpr double sure = 5;             // standard errors of a drift
constexpr double disturbed = 0.1;      // share of a steady state that may be away from its level

// The search takes the square of the number of points. More than 2,000 iterations (Barrett et al. have just those) are
// looked at one by one at first and then every so many: thinned and not averaged, so that the spread stays what it is.
constexpr std::size_t most_points = 2000;
constexpr std::size_t one_by_one = 1000;

// Clocks here tell a nanosecond; relative to the middle of the times it is a tick. A spread of a hundredth of a percent
// is as steady as anybody needs.
constexpr double clock_resolution_s = 1e-9;
constexpr double least_sd = 1e-4;

// Logarithms, and the iterations they are of.
struct Series {
  std::vector<std::size_t> iterations;
  std::vector<double> logs;
};

Series series_of(std::span<const double> times_s) {
  const std::size_t n = times_s.size();
  const std::size_t stride =
      n <= most_points ? 1 : (n - one_by_one + most_points - one_by_one - 1) / (most_points - one_by_one);
  Series series;
  for (std::size_t i = 0; i < n; i += i < one_by_one ? 1 : stride) {
    if (!std::isfinite(times_s[i])) continue;
    series.iterations.push_back(i);
    series.logs.push_back(std::log(std::max(times_s[i], clock_resolution_s)));
  }
  return series;
}

double tick_of(std::vector<double> logs) {
  std::ranges::sort(logs);
  return clock_resolution_s / std::exp(quantile(logs, 0.5));
}

// One tick more is no spike.
Series without_spikes(const Series& all, double tick) {
  const std::vector<bool> spikes = find_spikes(all.logs, std::max(tolerance, 2 * tick));
  Series kept;
  for (std::size_t i = 0; i < all.logs.size(); ++i) {
    if (spikes[i]) continue;
    kept.iterations.push_back(all.iterations[i]);
    kept.logs.push_back(all.logs[i]);
  }
  return kept;
}

std::vector<Segment> segments_of(const Series& series, std::size_t iterations, double tick) {
  // Rounding to whole ticks has the variance tick² / 12.
  const double least_variance = std::max(least_sd * least_sd, tick * tick / 12);
  std::vector<Segment> segments;
  std::size_t first = 0;
  for (const std::size_t end : pelt_mean_variance(series.logs, penalty_factor, minimum_segment, least_variance)) {
    const Moments moments = moments_of(std::span(series.logs).subspan(first, end - first));
    if (!segments.empty()) segments.back().end = series.iterations[first];
    segments.push_back(
        {segments.empty() ? 0 : series.iterations[first], iterations, moments.mean, std::sqrt(moments.variance)});
    first = end;
  }
  return segments;
}

// By the last segment's spread and not by the other's as well: a first segment with a few slow iterations has a spread
// that makes it equal to anything.
bool at_last_level(const Segment& segment, const Segment& last) {
  return std::abs(segment.mean - last.mean) <= std::max(tolerance, last.sd);
}

// The first segment from which on the series is at its last level, but for a tenth at most: a foreign process that
// takes the processor for ten iterations ends no steady state.
std::size_t first_steady(const std::vector<Segment>& segments) {
  const Segment& last = segments.back();
  std::size_t first = segments.size() - 1;
  std::size_t away = 0;
  for (std::size_t i = segments.size(); i-- > 0;) {
    if (!at_last_level(segments[i], last)) {
      away += segments[i].end - segments[i].begin;
    } else if (static_cast<double>(away) <= disturbed * static_cast<double>(last.end - segments[i].begin)) {
      first = i;
    }
  }
  return first;
}

// How often a level that had been left came back before the steady state. Once may be a disturbance; twice is a cycle.
int returns(std::span<const Segment> segments, double same) {
  int count = 0;
  for (std::size_t i = 2; i < segments.size(); ++i) {
    const auto like_this = [&](const Segment& s) { return std::abs(s.mean - segments[i].mean) <= same; };
    if (!like_this(segments[i - 1])) count += std::ranges::any_of(segments.first(i - 1), like_this) ? 1 : 0;
  }
  return count;
}

// The change along the values, by least squares, where it is one: more than max(1 %, sd) and five standard errors,
// which respect the residuals' autocorrelation as in iterations.cpp. 0 otherwise. PELT cuts a ramp into steps until a
// further one is not worth its penalty; what is left of the ramp in the last of them shows here.
double drift(std::span<const double> logs) {
  const auto n = static_cast<double>(logs.size());
  const double mean = moments_of(logs).mean;
  double slope = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) slope += (static_cast<double>(i) - (n - 1) / 2) * (logs[i] - mean);
  const double squares = n * (n * n - 1) / 12;
  slope /= squares;
  std::vector<double> rest;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    rest.push_back(logs[i] - mean - slope * (static_cast<double>(i) - (n - 1) / 2));
  }
  const double variance = moments_of(rest).variance * (n - 1) / (n - 2);
  const double correlation = std::clamp(autocorrelation(rest), 0.0, 0.99);
  const double error = std::sqrt(variance / squares * (1 + correlation) / (1 - correlation));
  const double change = slope * (n - 1);
  const bool is_one = std::abs(change) > std::max(tolerance, std::sqrt(variance)) && std::abs(slope) > sure * error;
  return is_one ? change : 0;
}

struct Steady {
  std::size_t begin = 0;  // iteration
  double drift = 0;       // what was seen last in what is left out for it
};

// Gives up the first quarter of what is left as long as that drifts; fewer than a minimum segment are none.
Steady without_drift(const Series& series, std::size_t begin) {
  std::span<const double> logs = series.logs;
  auto first = static_cast<std::size_t>(std::ranges::lower_bound(series.iterations, begin) - series.iterations.begin());
  Steady steady{begin, 0};
  while (logs.size() - first >= minimum_segment) {
    const double change = drift(logs.subspan(first));
    if (change == 0) return steady;
    first += (logs.size() - first + 3) / 4;
    steady = {first < logs.size() ? series.iterations[first] : series.iterations.back() + 1, change};
  }
  return steady;
}

bool cycles(const Series& series, std::span<const Segment> until_steady, const Segment& last) {
  const double same = std::max(tolerance, last.sd);
  return returns(until_steady, same) > 1 || alternates(series.logs, minimum_segment, tolerance);
}

bool was_faster(std::span<const Segment> before, const Segment& last, double drifted) {
  return drifted > 0 || std::ranges::any_of(before, [&](const Segment& segment) {
           return segment.mean < last.mean && !at_last_level(segment, last);
         });
}

SteadyState judge_steady_state(const Series& series, std::vector<Segment> segments) {
  const std::size_t first = first_steady(segments);
  const Segment last = segments.back();
  const std::span<const Segment> all = segments;
  const Steady steady = without_drift(series, segments[first].begin);
  SteadyState found{SteadyClass::flat, steady.begin, {}};
  if (steady.begin > last.end - last.end / 4 || cycles(series, all.first(first + 1), last)) {
    found = {SteadyClass::no_steady_state, last.end, {}};
  } else if (steady.begin > 0) {
    found.kind = was_faster(all.first(first), last, steady.drift) ? SteadyClass::slowdown : SteadyClass::warmup;
  }
  found.segments = std::move(segments);
  return found;
}

}  // namespace

std::string_view to_string(SteadyClass kind) {
  switch (kind) {
    case SteadyClass::flat: return "flat";
    case SteadyClass::warmup: return "warmup";
    case SteadyClass::slowdown: return "slowdown";
    case SteadyClass::no_steady_state: return "no_steady_state";
    case SteadyClass::too_short: return "too_short";
  }
  return "";
}

SteadyState find_steady_state(std::span<const double> times_s) {
  const Series all = series_of(times_s);
  if (times_s.size() < 2 * minimum_segment || all.logs.empty()) return {SteadyClass::too_short, times_s.size(), {}};
  const double tick = tick_of(all.logs);
  const Series series = without_spikes(all, tick);
  return judge_steady_state(series, segments_of(series, times_s.size(), tick));
}

}  // namespace infermeter
