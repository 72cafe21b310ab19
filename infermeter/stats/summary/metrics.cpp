#include "infermeter/stats/summary/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/stats/summary/quantile.hpp"
#include "infermeter/stats/summary/tail.hpp"

namespace infermeter {
namespace {

using Source = MetricKind::Source;

constexpr std::array<MetricKind, 14> kinds = {{
    {"latency_p50", "s", true, Source::percentile, 0.50},
    {"latency_p90", "s", true, Source::tail_percentile, 0.90},
    {"latency_p95", "s", true, Source::tail_percentile, 0.95},
    {"latency_p99", "s", true, Source::tail_percentile, 0.99},
    {"latency_mean", "s", true, Source::mean},
    {"latency_std", "s", true, Source::pooled_deviation},
    {"latency_min", "s", true, Source::pooled_min},
    {"latency_max", "s", true, Source::pooled_max},
    {"throughput", "items/s", false, Source::throughput},
    {"memory_peak", "bytes", true, Source::memory_peak},
    {"device_memory_peak", "bytes", true, Source::device_memory_peak},
    {"load_time", "s", true, Source::load_time},
    {"compile_time", "s", true, Source::compile_time},
    {"first_inference_time", "s", true, Source::first_inference_time},
}};

std::vector<MetricKind> kinds_of_load() {
  std::vector<MetricKind> of_load;
  for (const LoadFigure& figure : load_figures()) {
    of_load.push_back({figure.name, figure.unit, figure.lower_is_better, Source::load_counter});
  }
  return of_load;
}

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::optional<double> as_double(std::optional<std::uint64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

std::optional<double> throughput_of(const ProcessTimes& process) {
  const auto items = static_cast<double>(process.trial->items_per_iteration);
  // Requests overlap: what they took in all says nothing of how many there were in a second.
  if (process.trial->load) {
    const auto inferences = inferences_per_s(*process.trial->load);
    return inferences && items > 0 ? std::optional(*inferences * items) : std::nullopt;
  }
  const double total = sum(process.sorted);
  if (total <= 0 || items <= 0) return std::nullopt;
  return items * static_cast<double>(process.sorted.size()) / total;
}

std::optional<double> counter_named(std::string_view name, const Samples& trial) {
  const auto found = std::ranges::find(trial.counters, name, &Counter::name);
  if (found == trial.counters.end()) return std::nullopt;
  return found->value;
}

// Of a value that the trial recorded once.
std::optional<double> recorded(Source source, const Samples& trial) {
  switch (source) {
    case Source::memory_peak: return as_double(trial.memory.rss_peak_inference);
    case Source::device_memory_peak: return as_double(trial.memory.device_peak);
    case Source::load_time: return trial.load_s;
    case Source::compile_time: return trial.compile_s;
    case Source::first_inference_time: return trial.first_inference_s;
    default: return std::nullopt;
  }
}

std::optional<double> process_value(const MetricKind& kind, const ProcessTimes& process) {
  if (static_cast<std::int64_t>(process.sorted.size()) < kind.least_iterations()) return std::nullopt;
  switch (kind.source) {
    case Source::percentile:
    case Source::tail_percentile: return quantile(process.sorted, kind.q);
    case Source::mean: return sum(process.sorted) / static_cast<double>(process.sorted.size());
    case Source::throughput: return throughput_of(process);
    case Source::load_counter: return counter_named(kind.name, *process.trial);
    default: return recorded(kind.source, *process.trial);
  }
}

// √(Σ (n_i - 1) s_i² / Σ (n_i - 1)): what iterations vary by within a process, without what processes differ by.
std::optional<double> pooled_deviation(const SubjectTimes& times) {
  double squares = 0;
  double degrees = 0;
  for (const ProcessTimes& process : times.processes) {
    const Moments moments = moments_of(process.sorted);
    squares += moments.variance * static_cast<double>(moments.count - 1);
    degrees += static_cast<double>(moments.count - 1);
  }
  if (degrees == 0) return std::nullopt;
  return std::sqrt(squares / degrees);
}

std::optional<double> pooled_value(Source source, const SubjectTimes& times) {
  if (times.processes.empty()) return std::nullopt;
  if (source == Source::pooled_deviation) return pooled_deviation(times);
  const bool smallest = source == Source::pooled_min;
  double extreme = smallest ? times.processes[0].sorted.front() : times.processes[0].sorted.back();
  for (const ProcessTimes& process : times.processes) {
    extreme = smallest ? std::min(extreme, process.sorted.front()) : std::max(extreme, process.sorted.back());
  }
  return extreme;
}

std::string method_of(const MetricKind& kind, bool geometric) {
  if (kind.source == Source::pooled_deviation) return "pooled standard deviation within processes";
  if (!kind.per_process()) return "over all iterations";
  if (kind.source == Source::tail_percentile) {
    return "percentile (type 7) of all iterations; Woodruff's interval with processes as clusters";
  }
  const std::string mean = geometric ? "geometric mean" : "mean";
  const std::string interval = geometric ? "; t interval on logarithms" : "; t interval";
  if (kind.source == Source::percentile) return mean + " over processes of the percentile (type 7)" + interval;
  if (kind.source == Source::mean) return mean + " over processes of the mean" + interval;
  return mean + " over processes" + interval;
}

std::string why_no_value(const MetricKind& kind, const SubjectTimes& times) {
  if (kind.of_iterations() && times.processes.empty()) return "no timed iterations";
  if (kind.source == Source::pooled_deviation) return "needs 2 iterations in a process";
  if (kind.source == Source::throughput) return "the iterations took no time that the clock can see";
  return "not measured";
}

void set_metric_centre(Estimate& estimate, const Centre& centre) {
  if (!std::isfinite(centre.value)) {
    estimate.note = "too large for a floating-point number";
    return;
  }
  estimate.value = centre.value;
  estimate.interval = centre.interval;
  if (estimate.processes < 2) {
    estimate.note = "needs 2 processes for an interval";
  } else if (!centre.interval) {
    estimate.note = "the processes differ too much for an interval";
  }
}

Estimate pooled_estimate(const MetricKind& kind, const SubjectTimes& times) {
  Estimate result;
  result.n = times.iterations();
  result.processes = static_cast<int>(times.replications);
  result.method = method_of(kind, false);
  result.value = pooled_value(kind.source, times);
  if (result.value && !std::isfinite(*result.value)) result.value.reset();
  if (!result.value) result.note = why_no_value(kind, times);
  return result;
}

std::string why_no_interval(const MetricKind& kind, const Estimate& estimate, double confidence) {
  if (estimate.processes < 2) return "needs 2 processes for an interval";
  const std::int64_t wanted = tail_iterations(kind.q, estimate.processes, confidence);
  if (estimate.n < wanted) return fmt::format("needs about {} iterations for an interval", wanted);
  return "the slow iterations lie in too few of the processes for an interval";
}

void set_tail(const MetricKind& kind, const SubjectTimes& times, double confidence, Estimate& estimate) {
  estimate.processes = static_cast<int>(times.replications);
  const std::int64_t needed = quantile_needs(kind.q, confidence);
  if (times.processes.empty()) {
    estimate.note = why_no_value(kind, times);
  } else if (estimate.n < needed) {
    estimate.note = fmt::format("needs {} iterations", needed);
  } else {
    const TailPercentile tail = tail_percentile(times, kind.q, confidence);
    estimate.value = tail.value;
    estimate.interval = tail.interval;
    if (!tail.interval) estimate.note = why_no_interval(kind, estimate, confidence);
  }
}

}  // namespace

std::int64_t MetricKind::least_iterations() const {
  return source == Source::tail_percentile ? quantile_needs(q, Coverage{}.confidence) : 1;
}

bool MetricKind::of_iterations() const {
  return is_percentile() || source == Source::mean || source == Source::throughput || !per_process();
}

std::span<const MetricKind> metric_kinds() { return kinds; }

const MetricKind* metric_kind(std::string_view name) {
  const auto* found = std::ranges::find(kinds, name, &MetricKind::name);
  if (found != kinds.end()) return found;
  static const std::vector<MetricKind> of_load = kinds_of_load();
  const auto counter = std::ranges::find(of_load, name, &MetricKind::name);
  return counter == of_load.end() ? nullptr : &*counter;
}

ProcessValues collect_process_values(const MetricKind& kind, const SubjectTimes& times) {
  ProcessValues values;
  const auto add = [&](const Samples& trial, std::optional<double> value) {
    if (value && std::isfinite(*value) && *value >= 0) values.add(trial, *value);
  };
  for (const ProcessTimes& process : times.processes) add(*process.trial, process_value(kind, process));
  // A model that loads and then fails still says how long it took to load.
  if (times.processes.empty() && !kind.of_iterations()) {
    for (const Samples* trial : times.trials) add(*trial, recorded(kind.source, *trial));
  }
  return values;
}

std::vector<double> process_values(const MetricKind& kind, const SubjectTimes& times) {
  return collect_process_values(kind, times).values();
}

Estimate estimate(const MetricKind& kind, const SubjectTimes& times, const Coverage& coverage) {
  if (!kind.per_process()) return pooled_estimate(kind, times);
  if (kind.source == Source::tail_percentile) {
    Estimate result;
    result.n = times.iterations();
    result.method = method_of(kind, false);
    set_tail(kind, times, coverage.confidence, result);
    return result;
  }
  const std::vector<double> values = process_values(kind, times);
  Estimate result;
  result.processes = static_cast<int>(values.size());
  result.n = kind.of_iterations() ? times.iterations() : result.processes;
  result.method = method_of(kind, true);
  const std::int64_t needed = kind.source == Source::percentile ? quantile_needs(kind.q, coverage.confidence) : 1;
  if (values.empty()) {
    result.note = why_no_value(kind, times);
  } else if (result.n < needed) {
    result.note = fmt::format("needs {} iterations", needed);
  } else {
    const Centre centre = covering(centre_of(values, coverage.of_processes), coverage);
    result.method = method_of(kind, centre.geometric) + widening_note(coverage);
    set_metric_centre(result, centre);
  }
  return result;
}

}  // namespace infermeter
