#include "infermeter/verdict/comparison_diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/verdict/pilot.hpp"

namespace infermeter {
namespace {

double percent(double log_effect) { return std::expm1(log_effect) * 100; }

const Samples* failed_side_trial(const RunRecord& record, int subject, Purpose purpose) {
  const auto found = std::ranges::find_if(record.side_trials, [&](const Samples& trial) {
    return trial.subject == subject && trial.purpose == purpose && trial.end != TrialEnd::ok &&
           trial.end != TrialEnd::interrupted;
  });
  return found == record.side_trials.end() ? nullptr : &*found;
}

std::string label_of(const RunRecord& record, int subject) {
  return record.plan.subjects[static_cast<std::size_t>(subject)].label;
}

// Where a process must have more than one iteration to have a value.
std::string needs_text(std::string_view metric) {
  const MetricKind* kind = metric_kind(metric);
  if (kind == nullptr || kind->least_iterations() <= 1) return "";
  return fmt::format(" (a process needs {} iterations for its own)", kind->least_iterations());
}

std::vector<Diagnostic> of_pairs(const RunRecord& record, const PairedComparison& comparison) {
  std::vector<Diagnostic> found;
  const std::string label = label_of(record, comparison.candidate);
  const auto whole = comparison.differences.size();
  if (comparison.incomplete > 0) {
    found.push_back({.id = DiagnosticId::pairs_incomplete,
                     .message = fmt::format("{} pairs have no {} of both; {} are whole{}", comparison.incomplete,
                                            comparison.metric, whole, needs_text(comparison.metric)),
                     .about = label});
  }
  if (comparison.dropped > 0) {
    found.push_back({.id = DiagnosticId::pairs_dropped,
                     .message = fmt::format("{} of {} pairs were disturbed and left out", comparison.dropped,
                                            whole + static_cast<std::size_t>(comparison.dropped)),
                     .about = label});
  }
  const auto excludes_0 = [](const std::optional<Interval>& i) { return i && (i->low > 0 || i->high < 0); };
  if (whole >= 8 && comparison.t && comparison.sign && excludes_0(comparison.t) != excludes_0(comparison.sign)) {
    found.push_back({.id = DiagnosticId::skewed_differences,
                     .message = fmt::format(
                         "the differences are skewed or have outliers: the t interval {} 0, the sign interval {}",
                         excludes_0(comparison.t) ? "excludes" : "includes",
                         excludes_0(comparison.sign) ? "excludes it" : "includes it"),
                     .about = label});
  }
  return found;
}

}  // namespace

std::vector<Diagnostic> side_trial_diagnostics(const RunRecord& record, int subject) {
  std::vector<Diagnostic> found;
  const std::string label = label_of(record, subject);
  if (const Samples* failed = failed_side_trial(record, subject, Purpose::pilot)) {
    found.push_back({.id = DiagnosticId::pilot_failed,
                     .message = fmt::format("a pilot {}: {}", to_string(failed->end), failed->message),
                     .about = label});
  }
  if (const Samples* failed = failed_side_trial(record, subject, Purpose::leak)) {
    found.push_back({.id = DiagnosticId::leak_unclear,
                     .message = fmt::format("the leak trial {}: {}", to_string(failed->end), failed->message),
                     .about = label});
  }
  if (!record.plan.automatic.warmup) return found;
  const PilotFinding finding = find_in_pilots(record, static_cast<std::size_t>(subject));
  if (!finding.is_steady()) {
    found.push_back(
        {.id = DiagnosticId::no_steady_state,
         .message = fmt::format("the times of its pilots kept changing, as they also do beside other work "
                                "on the machine; {} iterations of warm-up were used{}",
                                finding.warmup, record.plan.question ? ", as many in both processes of each pair" : ""),
         .about = label});
  }
  return found;
}

std::vector<Diagnostic> leak_diagnostics(const std::optional<LeakEstimate>& leak, const std::string& label) {
  if (!leak || leak->verdict == LeakVerdict::no_leak) return {};
  if (leak->verdict == LeakVerdict::cannot_tell) {
    return {{.id = DiagnosticId::leak_unclear, .message = leak->reason, .about = label}};
  }
  const auto interval = leak->interval.value_or(Interval{});
  return {{.id = DiagnosticId::memory_leak,
           .message = fmt::format("memory grows by {:.0f} bytes with each iteration (95 % interval {:.0f} … {:.0f})",
                                  leak->bytes_per_iteration, interval.low, interval.high),
           .about = label}};
}

std::vector<Diagnostic> comparison_diagnostics(const RunRecord& record, const ComparisonVerdict& verdict) {
  std::vector<Diagnostic> found;
  const auto expected = outlook(record.plan, find_in_pilots(record));
  const double margin = std::log1p(record.plan.question->margin);
  if (expected && !verdict.resolved && expected->smallest_effect > margin) {
    found.push_back({.id = DiagnosticId::margin_out_of_reach,
                     .message = fmt::format("as the pilots varied, {} pairs show a difference of {:.2g} %, the margin "
                                            "is {:.2g} %",
                                            expected->pairs, percent(expected->smallest_effect), percent(margin)),
                     .about = {}});
  }
  for (const PairedComparison& comparison : verdict.primary) {
    for (Diagnostic& diagnostic : of_pairs(record, comparison)) found.push_back(std::move(diagnostic));
  }
  return found;
}

}  // namespace infermeter
