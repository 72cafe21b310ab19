// The closed list of metrics, and each one's value in one process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "infermeter/stats/summary/process_times.hpp"

namespace infermeter {

struct MetricKind {
  // What a process contributes. `pooled_*` have no value per process that an interval could be made from.
  enum class Source {
    percentile,       // of each process, centred over processes
    tail_percentile,  // of all iterations together
    mean,
    throughput,
    memory_peak,
    device_memory_peak,
    load_time,
    compile_time,
    first_inference_time,
    load_counter,  // a figure of samples/load/load_counters.hpp
    pooled_deviation,
    pooled_min,
    pooled_max,
  };
  std::string_view name;
  std::string_view unit;
  bool lower_is_better = true;
  Source source{};
  double q = 0;  // of percentiles

  [[nodiscard]] bool per_process() const { return source < Source::pooled_deviation; }
  [[nodiscard]] bool is_percentile() const { return source <= Source::tail_percentile; }
  [[nodiscard]] bool needs_order() const { return is_percentile() || !per_process(); }
  // Iterations that one process must have to give a value of its own: enough to enclose a percentile of the tail.
  [[nodiscard]] std::int64_t least_iterations() const;
  [[nodiscard]] bool of_iterations() const;  // false: one value per process, as it is
};

[[nodiscard]] std::span<const MetricKind> metric_kinds();  // of every subject, in the order of reports
// Those, and the figures of a load, which are counters of the trials.
[[nodiscard]] const MetricKind* metric_kind(std::string_view name);

// The values of all processes that have one of their own.
[[nodiscard]] std::vector<double> process_values(const MetricKind& kind, const SubjectTimes& times);
[[nodiscard]] ProcessValues collect_process_values(const MetricKind& kind, const SubjectTimes& times);

// What the metric says about a subject.
[[nodiscard]] Estimate estimate(const MetricKind& kind, const SubjectTimes& times, const Coverage& coverage);

}  // namespace infermeter
