#include "infermeter/verdict/apart/compare_apart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "infermeter/stats/distributions/normal.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/stats/summary/ratio.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/across_runs.hpp"
#include "infermeter/verdict/answers/like_for_like.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

struct Apart {
  const RunRecord& record;
  SummaryOptions options;  // with the coverage that is asked for
  double looks = 1;        // by how much smaller the level of an interval is than what it covers with

  [[nodiscard]] RatioSide side(const MetricKind& kind, const std::vector<Samples>& trials) const {
    return ratio_side(trials, kind, options);
  }
};

Apart apart_of(const RunRecord& record, double alpha) {
  Apart apart{.record = record, .options = summary_options(record), .looks = 1};
  const Coverage usual = apart.options.coverage;
  apart.looks = (1 - usual.confidence) / (1 - usual.of_processes);
  apart.options.coverage = {.confidence = 1 - alpha, .of_processes = 1 - alpha / apart.looks};
  return apart;
}

// Of percentiles of the tail, which processes do not have one by one: as wide as the interval says.
double p_of_interval(double estimate, const Interval& interval) {
  const double z = normal_tail_quantile((1 - interval.confidence) / 2);
  const double error = (interval.high - interval.low) / 2 / z;
  if (!(error > 0)) return estimate == 0 ? 1 : 0;
  return 2 * normal_tail(std::abs(estimate) / error);
}

PairedComparison compare_subjects(const Apart& apart, const MetricKind& kind, int baseline, int candidate) {
  PairedComparison found;
  found.baseline = baseline;
  found.candidate = candidate;
  found.metric = kind.name;
  const RatioSide before = apart.side(kind, trials_of(apart.record, baseline));
  const RatioSide after = apart.side(kind, trials_of(apart.record, candidate));
  found.baseline_processes = before.estimate.processes;
  found.candidate_processes = after.estimate.processes;
  const Estimate ratio = ratio_of_sides(kind, before, after, apart.options.coverage, Pairing::none);
  if (!ratio.value || !(*ratio.value > 0)) return found;
  found.estimate = -std::log(*ratio.value);
  if (ratio.interval && ratio.interval->low > 0) {
    found.interval =
        Interval{-std::log(ratio.interval->high), -std::log(ratio.interval->low), ratio.interval->confidence};
  }
  const auto welch = welch_p(before.values, after.values);
  if (welch) {
    found.p = std::min(1.0, *welch * apart.looks);
  } else if (found.interval) {
    found.p = p_of_interval(*found.estimate, *found.interval);
  }
  return found;
}

std::string why_withheld(const RunRecord& record, int baseline, int candidate) {
  if (!compares_machines(record) && record.joined.front().machine != record.joined.back().machine)
    return "the runs are of two machines";
  const auto differences = like_for_like(record, baseline, candidate);
  const auto input = std::ranges::find(differences, DiagnosticId::input_differs, &Diagnostic::id);
  return input == differences.end() ? "" : input->message;
}

std::vector<PairedComparison> explore_apart(const Apart& apart, const std::vector<PairedComparison>& primary) {
  std::vector<PairedComparison> found;
  for (const PairedComparison& one : primary) {
    for (const std::string_view name : exploratory_metrics) {
      if (name == one.metric) continue;
      PairedComparison other = compare_subjects(apart, *metric_kind(name), one.baseline, one.candidate);
      if (other.estimate) found.push_back(std::move(other));
    }
  }
  std::vector<double> p;
  for (const PairedComparison& one : found) p.push_back(one.p);
  const auto adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].p = adjusted[i];
    if (primary.front().withheld.empty()) {
      found[i].direction = exploratory_direction(found[i], *apart.record.plan.question);
    }
  }
  return found;
}

std::string when_text(const JoinedRun& run) {
  const std::string time = utc_time(run.created_at);
  return time.empty() ? "an unknown time" : fmt::format("{:.10} {:.5} UTC", time, time.substr(11));
}

std::string span_text(double seconds) {
  const double size = std::abs(seconds);
  if (size < 2 * 3600) return fmt::format("{:.0f} minutes", size / 60);
  return size < 48 * 3600 ? fmt::format("{:.0f} hours", size / 3600) : fmt::format("{:.0f} days", size / 86400);
}

std::vector<std::string> machines_of_joined(const RunRecord& record) {
  std::vector<std::string> machines;
  for (const JoinedRun& one : record.joined)
    machines.push_back(fmt::format("{} ({:.12})", printable(one.host, 60), printable(one.machine, 60)));
  return machines;
}

}  // namespace

ComparisonVerdict compare_apart(const RunRecord& record) {
  const Question& question = *record.plan.question;
  const MetricKind& kind = *metric_kind(question.metric);
  std::vector<std::pair<int, int>> compared;
  for (std::size_t subject = 0; subject < record.plan.subjects.size(); ++subject)
    if (const std::size_t first = first_of_group(record.plan, subject); first != subject)
      compared.emplace_back(static_cast<int>(first), static_cast<int>(subject));
  const auto candidates = static_cast<double>(compared.size());
  const Apart apart = apart_of(record, question.alpha / candidates);
  ComparisonVerdict verdict;
  verdict.paired = false;
  verdict.ended = true;
  verdict.resolved = true;
  for (const auto& [baseline, candidate] : compared) {
    PairedComparison& one = verdict.primary.emplace_back(compare_subjects(apart, kind, baseline, candidate));
    one.p = std::min(1.0, one.p * candidates);
    one.withheld = why_withheld(record, baseline, candidate);
    if (one.withheld.empty()) one.direction = direction_within(one.interval, std::log1p(question.margin));
    verdict.resolved = verdict.resolved && one.direction != Direction::unresolved;
    verdict.looks.emplace_back();
  }
  verdict.exploratory = explore_apart(apart_of(record, question.alpha), verdict.primary);
  return verdict;
}

std::vector<Diagnostic> diagnostics_of_joined(const RunRecord& record) {
  const JoinedRun &before = record.joined.front(), &after = record.joined.back();
  std::vector<Diagnostic> found;
  if (compares_machines(record)) {
    found.push_back(
        {.id = DiagnosticId::machines_differ,
         .message = fmt::format("machines are what is compared: {}", fmt::join(machines_of_joined(record), ", ")),
         .about = {}});
    if (before.id == after.id) return found;  // at the same time
  } else if (before.machine != after.machine) {
    found.push_back({.id = DiagnosticId::machines_differ,
                     .message = fmt::format("{} and {} were measured on two machines", before.id, after.id),
                     .about = {}});
  }
  found.push_back(
      {.id = DiagnosticId::runs_not_interleaved,
       .message = fmt::format(
           "{} was measured at {}, {} at {}, {} apart: what changed on the machine in between is part "
           "of every difference, and no interval covers it",
           before.id, when_text(before), after.id, when_text(after), span_text(after.created_at - before.created_at)),
       .about = {}});
  return found;
}

}  // namespace infermeter
