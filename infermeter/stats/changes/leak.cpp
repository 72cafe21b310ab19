#include "infermeter/stats/changes/leak.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/changes/trend.hpp"

namespace infermeter {
namespace {

constexpr std::size_t fewest_leak_points = 20;

// Growth of each quarter of the judged part, as a share of their mean, that still counts as going on. A leak in steps
// (a page, 132 kB of heap, 2 MB in huge pages) has at least half of it, if there is a step in each quarter; an arena
// that settles exponentially, with a fifth of the run or less as its time constant, has less.
constexpr double least_share = 0.4;

// Growth in the second half of the judged part, as a share of that in its first, that is still as fast. Of an arena
// that settles with a time constant of T runs it is exp(−1 / (4 T)): 0.37 at a quarter, 0.61 at a half, 0.70 at 0.7.
constexpr double least_pace = 0.7;

constexpr double huge_page = 2'097'152;

// Growth is over when memory has stayed below a new peak for three times as long as it ever waited for one before. One
// large allocation late in the run is thus not over: nothing says whether there will be another.
constexpr std::size_t times_longer = 3;

using Bytes = std::span<const double>;

// The first quarter of the run is the arena's: nothing in it counts. The second is what the judged half is compared
// with.
struct Stretches {
  Bytes before;
  std::array<Bytes, 4> judged;
};

Stretches stretches_of(Bytes bytes) {
  const std::size_t n = bytes.size();
  Stretches stretches{bytes.subspan(n / 4, n / 2 - n / 4), {}};
  for (std::size_t q = 0; q < 4; ++q) {
    const std::size_t begin = n / 2 + (n - n / 2) * q / 4;
    stretches.judged[q] = bytes.subspan(begin, n / 2 + (n - n / 2) * (q + 1) / 4 - begin);
  }
  return stretches;
}

struct Envelope {
  std::array<double, 5> highest{}, lowest{};  // before, and in each quarter of the judged half
};

Envelope envelope_of(Bytes bytes) {
  const Stretches stretches = stretches_of(bytes);
  Envelope envelope;
  for (std::size_t i = 0; i < 5; ++i) {
    const auto [low, high] = std::ranges::minmax(i == 0 ? stretches.before : stretches.judged[i - 1]);
    envelope.lowest[i] = low;
    envelope.highest[i] = high;
  }
  return envelope;
}

// Whether each quarter exceeds all before it, by not much less than the others do, and the last two together by as much
// as the first two: but for a `step` at either end, as where steps fall is chance.
bool goes_on(const std::array<double, 5>& extremes, double step) {
  std::array<double, 4> rise{};
  double peak = extremes[0];
  for (std::size_t q = 0; q < rise.size(); ++q) {
    rise[q] = std::max(0.0, extremes[q + 1] - peak);
    peak += rise[q];
  }
  const double total = peak - extremes[0];
  if (!(total > 0) || !std::ranges::all_of(rise, [&](double one) { return one >= least_share * total / 4; })) {
    return false;
  }
  const double early = rise[0] + rise[1], late = rise[2] + rise[3];
  return late >= least_pace * early || late >= early - 2 * step;
}

// The largest change from one point of the judged half to the next.
double largest_step(Bytes bytes) {
  double largest = 0;
  for (std::size_t i = bytes.size() / 2; i < bytes.size(); ++i) {
    largest = std::max(largest, std::abs(bytes[i] - bytes[i - 1]));
  }
  return largest;
}

bool rises_throughout(const Envelope& envelope, double step) { return goes_on(envelope.highest, step); }

bool falls_throughout(const Envelope& envelope, double step) {
  std::array<double, 5> negated{};
  std::ranges::transform(envelope.lowest, negated.begin(), [](double low) { return -low; });
  return goes_on(negated, step);
}

// A collector's saw: each of the last three quarters of the run has the same floor and the same peak, to within what
// the smallest leak adds in one of them, or a hundredth of the saw's height.
bool repeats(Bytes bytes, double tolerance) {
  const std::size_t n = bytes.size();
  std::array<double, 3> floors{};
  std::array<double, 3> peaks{};
  for (std::size_t q = 0; q < 3; ++q) {
    const std::size_t begin = n * (q + 1) / 4;
    const auto [low, high] = std::ranges::minmax(bytes.subspan(begin, n * (q + 2) / 4 - begin));
    floors[q] = low;
    peaks[q] = high;
  }
  const auto [lowest_floor, highest_floor] = std::ranges::minmax(floors);
  const auto [lowest_peak, highest_peak] = std::ranges::minmax(peaks);
  const double allowed = std::max(tolerance, 0.01 * (highest_peak - lowest_floor));
  return highest_floor - lowest_floor <= allowed && highest_peak - lowest_peak <= allowed;
}

// Whether memory stopped growing before the last quarter of the run. Peaks that exceed the last one by less than
// `tolerance` are none.
bool growth_is_over(Bytes bytes, double tolerance) {
  const std::size_t n = bytes.size();
  std::size_t last = n / 4;
  std::size_t longest_wait = 0;
  for (std::size_t i = last + 1; i < n; ++i) {
    if (bytes[i] <= bytes[last] + tolerance) continue;
    longest_wait = std::max(longest_wait, i - last);
    last = i;
  }
  return last <= n - n / 4 && n - last >= times_longer * longest_wait;
}

LeakEstimate cannot_tell(std::string reason) {
  LeakEstimate estimate;
  estimate.reason = std::move(reason);
  return estimate;
}

bool is_flat(const Interval& slope, double smallest_leak) {
  return slope.low <= 0 && slope.high >= 0 && slope.high < smallest_leak;
}

// The part of a trial from one point on, as a line.
LeakEstimate line_from(std::size_t from, std::span<const double> iterations, Bytes bytes) {
  const Trend trend = trend_of(iterations.subspan(from), bytes.subspan(from));
  return {.bytes_per_iteration = trend.slope,
          .interval = trend.interval,
          .from = from,
          .growth_bytes = bytes.back() - bytes[from],
          .reason = {}};
}

LeakEstimate with(LeakEstimate estimate, LeakVerdict verdict, std::string reason) {
  estimate.verdict = verdict;
  estimate.reason = std::move(reason);
  return estimate;
}

// `length`: iterations that are judged.
LeakEstimate without_leak(LeakEstimate estimate, double length, double smallest_leak, std::string reason) {
  const double seen = std::max(estimate.interval ? estimate.interval->high : 0, huge_page / length);
  estimate.detectable_bytes_per_iteration = std::max(seen, smallest_leak);
  return with(std::move(estimate), LeakVerdict::no_leak, std::move(reason));
}

LeakEstimate judge_trend(std::span<const double> iterations, Bytes bytes, double smallest_leak) {
  const std::size_t n = bytes.size();
  const LeakEstimate half = line_from(n / 2, iterations, bytes);
  const double length = iterations.back() - iterations[n / 2 - 1];
  const Envelope envelope = envelope_of(bytes);
  const double step = largest_step(bytes);
  const bool grows = half.interval->low > 0 && half.bytes_per_iteration >= smallest_leak;
  if (grows && rises_throughout(envelope, step)) {
    return with(half, LeakVerdict::leak,
                fmt::format("memory grows all through the last {:.0f} iterations: each quarter of them has a new peak",
                            length));
  }
  if (is_flat(*half.interval, smallest_leak) || (half.interval->high < 0 && falls_throughout(envelope, step))) {
    return without_leak(half, length, smallest_leak,
                        fmt::format("memory does not grow over the last {:.0f} iterations", length));
  }
  if (repeats(bytes, smallest_leak * length / 2)) {
    return without_leak(
        half, length, smallest_leak,
        fmt::format("memory falls back to the same level again and again in the last {:.0f} iterations", length));
  }
  const std::size_t late = n - n / 4;
  const double quiet = iterations.back() - iterations[late - 1];
  if (n - late >= fewest_leak_points / 2 && iterations.back() > iterations[late] &&
      growth_is_over(bytes, smallest_leak * length / 2)) {
    const LeakEstimate quarter = line_from(late, iterations, bytes);
    if (is_flat(*quarter.interval, smallest_leak)) {
      return without_leak(
          quarter, quiet, smallest_leak,
          fmt::format("memory has stopped growing: it does not over the last {:.0f} iterations", quiet));
    }
  }
  return with(half, LeakVerdict::cannot_tell,
              grows ? "memory has grown, but not steadily: more iterations tell a leak from single allocations, or "
                      "from memory that settles"
                    : "memory rises and falls by more than a slow leak adds in as many iterations");
}

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

}  // namespace

std::string_view to_string(LeakVerdict verdict) {
  switch (verdict) {
    case LeakVerdict::leak: return "leak";
    case LeakVerdict::no_leak: return "no_leak";
    case LeakVerdict::cannot_tell: return "cannot_tell";
  }
  return "";
}

LeakEstimate judge_leak(std::span<const double> iterations, Bytes bytes, double smallest_leak) {
  INFERMETER_CHECK(iterations.size() == bytes.size());
  const std::size_t n = bytes.size();
  if (n < fewest_leak_points)
    return cannot_tell(fmt::format("{} points; at least {} are needed", n, fewest_leak_points));
  if (!all_finite(iterations) || !all_finite(bytes)) return cannot_tell("some points are not numbers");
  if (!(iterations.back() > iterations[n / 2])) return cannot_tell("all points are of one iteration");
  return judge_trend(iterations, bytes, smallest_leak);
}

}  // namespace infermeter
