// Summary: what the samples of one subject say. Pure functions of Samples; nothing here knows units of display.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct Interval {
  double low = 0, high = 0;
  double confidence = 0.95;
};

// A figure with where it comes from. No value without n and method.
struct Estimate {
  std::optional<double> value;       // nullopt: cannot be determined, `note` says why ("needs 299 iterations")
  std::optional<Interval> interval;  // across worker processes; nullopt with fewer than two
  std::int64_t n = 0;                // iterations behind it; processes, where each gives one value (memory, load time)
  int processes = 0;
  std::string method;  // "geometric mean over processes of the mean; t interval on logarithms"
  std::string note;
};

// Names of metrics as in files: latency_p50, latency_p90, latency_p95, latency_p99, latency_mean, latency_std,
// latency_min, latency_max (seconds), throughput (items/s), memory_peak (bytes; resident memory of the worker),
// device_memory_peak (bytes; of the device, by the framework's own allocator), load_time, compile_time,
// first_inference_time (seconds).
struct Metric {
  std::string name;
  std::string unit;  // "s", "items/s", "bytes"
  bool lower_is_better = true;
  Estimate estimate;
  // Percentiles: the order-statistic interval within the pooled iterations (independence assumed: docs/methodology.md).
  std::optional<Interval> within;
};

// What the subject itself counted, by its own name (a cache's hit rate, a figure of a measure_* method). The value is
// the mean over processes of the values as they are, with a t interval: they may be 0 or negative.
struct CounterSummary {
  std::string name, unit;  // text from outside
  Estimate estimate;       // processes: those that gave a value; `note` says so where others did not
};

struct OutlierCount {
  std::int64_t mild = 0;     // beyond 1.5, but not beyond 3, IQR of the quartiles of its process (Tukey 1977)
  std::int64_t severe = 0;   // beyond 3 IQR
  std::int64_t removed = 0;  // by the user's rule
  std::int64_t total = 0;
};

struct Summary {
  int subject = 0;
  int trials_ok = 0;
  int trials_partial = 0;  // ended early with some iterations
  int trials_failed = 0;   // with none
  std::vector<Metric> metrics;
  std::vector<CounterSummary> counters;  // in the order in which they first come up
  OutlierCount outliers;
  std::vector<Diagnostic> diagnostics;

  [[nodiscard]] const Metric* metric(std::string_view name) const;
  // Of a metric, or of a counter of that name: figures of a load are counters. nullptr: there is neither.
  [[nodiscard]] const Estimate* estimate(std::string_view name) const;
};

// How often an interval covers (`confidence`, which it says), and the confidence that Student's intervals over
// processes are made with to do so: higher where a run looked at them several times (stats/comparison/rounds.hpp), or
// where several ratios are one family.
struct Coverage {
  double confidence = 0.95;
  double of_processes = 0.95;
  std::string_view widened_for{};  // for the method: "repeated looks"; empty where both are equal
};

struct SummaryOptions {
  // "none", "sigma", "iqr", "mad" and its factor.
  std::string outlier_rule = "none";
  double outlier_factor = 0;
  Coverage coverage{};
};

// All trials of one subject, in any order. Works with none, with partial ones and with single iterations.
[[nodiscard]] Summary summarise(std::span<const Samples> trials, const SummaryOptions& options);

// What the processes of two subjects have in common.
enum class Pairing {
  none,    // measured apart: another run, or nobody knows
  blocks,  // of one run: processes of the same number ran beside each other
};

// Candidate against baseline: baseline / candidate for times and memory-like metrics (2 = twice as fast), candidate /
// baseline where higher is better; with the interval of the ratio of the two on a log scale:
// Student's of the blocks' differences where there are at least three and both have a value in each, else Welch's.
struct Ratio {
  std::string metric;
  Estimate estimate;
};
[[nodiscard]] Ratio ratio(std::span<const Samples> baseline, std::span<const Samples> candidate,
                          std::string_view metric, const SummaryOptions& options, Pairing pairing = Pairing::none);

}  // namespace infermeter
