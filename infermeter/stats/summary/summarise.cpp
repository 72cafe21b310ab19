#include <algorithm>

#include <fmt/format.h>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/summary/counters.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/stats/summary/quantile.hpp"
#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/text/counts.hpp"

namespace infermeter {
namespace {

constexpr double many_removed_below = 0.8;  // share kept

std::string processes(std::int64_t count) { return counted(count, "process", "processes"); }

void note_partial(const SubjectTimes& times, std::vector<Diagnostic>& out) {
  if (times.partial == 0) return;
  const std::string ended = fmt::format("{} ended early", processes(times.partial));
  const std::string what = times.ok > 0 ? fmt::format("; the figures are from the {} that ended as planned", times.ok)
                                        : std::string(" and none as planned; the figures are from what there is");
  out.push_back({DiagnosticId::samples_partial, ended + what, {}});
}

void note_too_few(const Summary& summary, const SubjectTimes& times, std::vector<Diagnostic>& out) {
  const auto count = static_cast<std::int64_t>(times.replications);
  if (count == 1) {
    const auto rounds = times.processes.size();
    out.push_back({DiagnosticId::too_few_processes,
                   rounds == 1 ? "one process gives no interval"
                               : fmt::format("{} rounds of one process give no interval", rounds),
                   {}});
  }
  // Of a load the rule `enough` says it (verdict/load/load_validity.hpp).
  const auto is_load = [](const ProcessTimes& process) { return process.trial->load.has_value(); };
  if (std::ranges::any_of(times.processes, is_load)) return;
  std::string wanted;
  for (const Metric& metric : summary.metrics) {
    if (count == 0 || metric.estimate.value || !metric.estimate.note.starts_with("needs ")) continue;
    wanted += fmt::format("{}{} {}", wanted.empty() ? "" : ", ", metric.name, metric.estimate.note);
  }
  if (wanted.empty()) return;
  const auto found = counted(times.iterations(), "iteration", "iterations");
  out.push_back({DiagnosticId::too_few_samples, fmt::format("there are {}, but {}", found, wanted), {}});
}

void note_outliers(const SubjectTimes& times, const SummaryOptions& options, std::vector<Diagnostic>& out) {
  const OutlierCount& count = times.outliers;
  const std::string rule = fmt::format("{}:{}", options.outlier_rule, options.outlier_factor);
  if (count.removed > 0) {
    const double kept = 1 - static_cast<double>(count.removed) / static_cast<double>(count.total);
    const std::string message = fmt::format("the rule {} removed {} of {} iterations: {:.1f} % are kept", rule,
                                            count.removed, count.total, 100 * kept);
    out.push_back({DiagnosticId::outliers_removed, message, {}});
    if (kept < many_removed_below)
      out.push_back({DiagnosticId::many_outliers_removed, message + ", so few that the measurement is unstable", {}});
  } else if (count.mild + count.severe > 0) {
    out.push_back(
        {DiagnosticId::outliers_marked,
         fmt::format("{} of {} iterations lie far from the rest of their process, {} of them very far; all are "
                     "kept",
                     count.mild + count.severe, count.total, count.severe),
         {}});
  }
  if (times.rule_ignored > 0) {
    out.push_back(
        {DiagnosticId::outlier_rule_ignored,
         fmt::format("the rule {} would have removed every iteration, or found no spread to measure by, in {}; "
                     "all of them are kept there",
                     rule, processes(times.rule_ignored)),
         {}});
  }
}

void note_values(const SubjectTimes& times, std::span<const double> pooled, std::vector<Diagnostic>& out) {
  if (times.not_finite > 0) {
    out.push_back(
        {DiagnosticId::non_finite_latencies,
         fmt::format("{} without a finite duration are left out", counted(times.not_finite, "iteration", "iterations")),
         {}});
  }
  if (pooled.size() >= 2 && pooled.front() == pooled.back()) {
    out.push_back({DiagnosticId::constant_latencies,
                   fmt::format("all {} iterations took exactly {:.9g} s", pooled.size(), pooled.front()),
                   {}});
  }
}

Metric measure(const MetricKind& kind, const SubjectTimes& times, std::span<const double> pooled,
               const Coverage& coverage) {
  Metric metric{std::string(kind.name), std::string(kind.unit), kind.lower_is_better, estimate(kind, times, coverage),
                std::nullopt};
  if (kind.is_percentile()) metric.within = quantile_interval(pooled, kind.q, coverage.confidence);
  return metric;
}

}  // namespace

const Metric* Summary::metric(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  return found == metrics.end() ? nullptr : &*found;
}

const Estimate* Summary::estimate(std::string_view name) const {
  if (const Metric* found = metric(name)) return &found->estimate;
  const auto counter = std::ranges::find(counters, name, &CounterSummary::name);
  return counter == counters.end() ? nullptr : &counter->estimate;
}

Summary summarise(std::span<const Samples> trials, const SummaryOptions& options) {
  INFERMETER_CHECK(options.coverage.confidence > 0 && options.coverage.of_processes < 1);
  const SubjectTimes times = subject_times(trials, options);
  const std::vector<double> pooled = times.pooled();
  Summary summary;
  if (!trials.empty()) summary.subject = trials.front().subject;
  summary.trials_ok = times.ok;
  summary.trials_partial = times.partial;
  summary.trials_failed = times.failed;
  summary.outliers = times.outliers;
  for (const MetricKind& kind : metric_kinds()) {
    summary.metrics.push_back(measure(kind, times, pooled, options.coverage));
  }
  summary.counters = summarise_counters(times, options.coverage);
  note_partial(times, summary.diagnostics);
  note_too_few(summary, times, summary.diagnostics);
  note_outliers(times, options, summary.diagnostics);
  note_values(times, pooled, summary.diagnostics);
  return summary;
}

}  // namespace infermeter
