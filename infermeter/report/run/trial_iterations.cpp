#include "infermeter/report/run/trial_iterations.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace infermeter {
namespace {

constexpr std::size_t fewest_kept = 4;
constexpr double per_millisecond = 1e3;
constexpr double per_microsecond = 1e6, per_nanosecond = 1e9;
constexpr int significant_digits = 6;
constexpr double begins_per_iteration = 100;

IterationTimes times_of(const std::vector<double>& begin_s, const std::vector<double>& end_s) {
  const std::size_t count = std::min(begin_s.size(), end_s.size());
  IterationTimes times;
  times.begin_s.assign(begin_s.begin(), begin_s.begin() + static_cast<std::ptrdiff_t>(count));
  times.latency_s.resize(count);
  for (std::size_t i = 0; i < count; ++i) times.latency_s[i] = end_s[i] - begin_s[i];
  return times;
}

std::size_t part_of_count(std::size_t count, double share) {
  return static_cast<std::size_t>(std::floor(static_cast<double>(count) * share));
}

void keep(std::vector<double>& values, const std::vector<std::size_t>& indices) {
  if (indices.size() >= values.size()) return;
  for (std::size_t i = 0; i < indices.size(); ++i) values[i] = values[indices[i]];
  values.resize(indices.size());
}

void keep(IterationTimes& times, const std::vector<std::size_t>& indices) {
  keep(times.begin_s, indices);
  keep(times.latency_s, indices);
}

// Powers of ten, so that what is rounded has a short decimal text: a whole number over one of them has.
double power_of_ten_above(double steps) { return std::pow(10, std::ceil(std::log10(steps))); }

void round_begins(std::vector<double>& begin_s, double usual_latency_s) {
  const bool is_known = std::isfinite(usual_latency_s) && usual_latency_s > 0;
  const double steps = is_known ? power_of_ten_above(begins_per_iteration / usual_latency_s) : per_microsecond;
  const double per_second = std::clamp(steps, 1.0, per_microsecond);
  for (double& begin : begin_s) begin = std::round(begin * per_second) / per_second;
}

void round_latencies(std::vector<double>& latency_s) {
  static constexpr std::array powers = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, per_nanosecond};
  for (double& latency : latency_s) {
    // The first that keeps all digits that count.
    const auto steps = std::ranges::find_if(powers, [&](double per_second) {
      return std::abs(latency) * per_second * 10 >= std::pow(10, significant_digits);
    });
    const double per_second = steps == powers.end() ? per_nanosecond : *steps;
    latency = std::round(latency * per_second) / per_second;
  }
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void round_times(IterationTimes& times) {
  round_begins(times.begin_s, median(times.latency_s));
  round_latencies(times.latency_s);
}

// The union of both lists' extremes, half of the count for each.
std::vector<std::size_t> thinned_together(const std::vector<double>& first, const std::vector<double>& second,
                                          std::size_t count) {
  const auto of_first = thinned(first, count / 2), of_second = thinned(second, count / 2);
  std::vector<std::size_t> both;
  std::ranges::set_union(of_first, of_second, std::back_inserter(both));
  return both;
}

void thin_timed(TrialIterations& all, double share) {
  const std::size_t count = part_of_count(all.timed.latency_s.size(), share);
  const bool is_aligned = all.memory_bytes.size() == all.timed.latency_s.size();
  if (is_aligned) {
    const auto kept = thinned_together(all.timed.latency_s, all.memory_bytes, count);
    keep(all.timed, kept);
    keep(all.memory_bytes, kept);
  } else {
    keep(all.timed, thinned(all.timed.latency_s, count));
    keep(all.memory_bytes, thinned(all.memory_bytes, part_of_count(all.memory_bytes.size(), share)));
  }
}

// Those of values[begin, end) that are smallest and largest, in their order; NaN is neither.
void add_extremes(std::span<const double> values, std::size_t begin, std::size_t end, std::vector<std::size_t>& kept) {
  std::size_t low = begin, high = begin;
  for (std::size_t i = begin + 1; i < end; ++i) {
    if (std::isnan(values[i])) continue;
    if (std::isnan(values[low]) || values[i] < values[low]) low = i;
    if (std::isnan(values[high]) || values[i] > values[high]) high = i;
  }
  kept.push_back(std::min(low, high));
  if (low != high) kept.push_back(std::max(low, high));
}

}  // namespace

TrialIterations all_iterations(const Samples& trial) {
  return {.warmup = times_of(trial.warmup_begin_s, trial.warmup_end_s),
          .timed = times_of(trial.begin_s, trial.end_s),
          .memory_bytes = trial.memory_bytes,
          .memory_timeline = trial.memory_timeline,
          .of_load = true};
}

TrialIterations drawn_iterations(const Samples& trial, double share) {
  TrialIterations drawn = all_iterations(trial);
  drawn.of_load = false;
  if (share < 1) {
    keep(drawn.warmup, thinned(drawn.warmup.latency_s, part_of_count(drawn.warmup.latency_s.size(), share)));
    thin_timed(drawn, share);
  }
  round_times(drawn.warmup);
  round_times(drawn.timed);
  drawn.memory_timeline = drawn_memory(trial.memory_timeline);
  return drawn;
}

std::vector<MemoryPoint> drawn_memory(std::span<const MemoryPoint> points) {
  constexpr std::size_t most_phases = static_cast<std::size_t>(Phase::done) + 1;
  // What is shared out by the length of phases, after each has the fewest that it can be determined with.
  constexpr std::size_t shared = kDrawnMemoryPoints - most_phases * fewest_kept;
  std::vector<MemoryPoint> drawn;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    while (end < points.size() && points[end].phase == points[begin].phase) ++end;
    std::vector<double> bytes;
    for (std::size_t i = begin; i < end; ++i) bytes.push_back(static_cast<double>(points[i].rss_bytes));
    const std::size_t count =
        points.size() <= kDrawnMemoryPoints ? bytes.size() : fewest_kept + shared * bytes.size() / points.size();
    for (const std::size_t i : thinned(bytes, count)) drawn.push_back(points[begin + i]);
  }
  for (MemoryPoint& point : drawn) point.at_s = std::round(point.at_s * per_millisecond) / per_millisecond;
  return drawn;
}

std::vector<std::size_t> thinned(std::span<const double> values, std::size_t count) {
  count = std::max(count, fewest_kept);
  std::vector<std::size_t> kept;
  if (values.size() <= count) {
    kept.resize(values.size());
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = i;
    return kept;
  }
  const std::size_t inner = values.size() - 2, stretches = (count - 2) / 2;
  kept.reserve(count);
  kept.push_back(0);
  for (std::size_t i = 0; i < stretches; ++i) {
    add_extremes(values, 1 + i * inner / stretches, 1 + (i + 1) * inner / stretches, kept);
  }
  kept.push_back(values.size() - 1);
  return kept;
}

}  // namespace infermeter
