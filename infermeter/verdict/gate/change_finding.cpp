// Speed-ups and regressions: one subject against another, by the pairs of a comparison where there are any.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/stats/comparison/design_power.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/verdict/across_runs.hpp"
#include "infermeter/verdict/answers/like_for_like.hpp"
#include "infermeter/verdict/gate/finding.hpp"
#include "infermeter/verdict/load/load_validity.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/disturbance.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

// Still as the difference of logarithms; positive is worse.
using LogChange = Finding;

LogChange change_from(const PairedComparison& pairs) {
  LogChange change;
  change.value = pairs.estimate;
  change.interval = pairs.interval;
  change.n = pairs.pairs();
  change.replications = pairs.pairs();
  change.processes = 2 * change.replications;
  change.n_of = change.replication = "pairs";
  if (!change.value) {
    change.why = "there is no pair in which both gave a value";
  } else if (!change.interval) {
    change.why = fmt::format("{} pairs are too few for an interval", change.n);
  }
  return change;
}

// ratio() is how many times better the candidate is.
LogChange change_from(const Ratio& ratio, int processes_of_each) {
  const Estimate& estimate = ratio.estimate;
  const MetricKind* kind = metric_kind(ratio.metric);
  LogChange change;
  change.n_of = kind != nullptr && !kind->of_iterations() ? "processes" : "iterations";
  change.n = estimate.n;
  change.processes = estimate.processes;
  change.replications = processes_of_each;
  change.why = estimate.note;
  if (estimate.note.starts_with("needs 2 processes")) change.why += " (--processes 3)";
  if (estimate.note.ends_with("iterations")) change.why += " of each (--iterations)";
  if (estimate.value && *estimate.value > 0) change.value = -std::log(*estimate.value);
  if (estimate.interval && estimate.interval->low > 0) {
    const Interval& interval = *estimate.interval;
    change.interval = Interval{-std::log(interval.high), -std::log(interval.low), interval.confidence};
  }
  return change;
}

void note_disturbance(std::span<const Samples> trials, const std::string& whose, LogChange& change) {
  const Disturbance found = disturbance_of(trials);
  if (!found.text.empty()) change.notes.push_back(fmt::format("{}: {}", whose, found.text));
  change.disturbed = change.disturbed || found.is_grave;
}

// `name`: of the other side.
LogChange unpaired(const RunRecord& before, int before_subject, const GateEvidence& evidence, int subject,
                   std::string_view metric, const std::string& name) {
  const auto baseline = trials_of(before, before_subject), candidate = trials_of(evidence.run, subject);
  auto options = summary_options(evidence.run);
  // Of the run that was looked at more often while it went on.
  if (const Coverage other = summary_options(before).coverage; other.of_processes > options.coverage.of_processes)
    options.coverage = other;
  const Pairing pairing = &before == &evidence.run ? Pairing::blocks : Pairing::none;
  LogChange change = change_from(ratio(baseline, candidate, metric, options, pairing), evidence.run.plan.processes);
  const MetricKind* kind = metric_kind(metric);
  if (kind != nullptr && kind->unit == "bytes") return change;  // not of time
  note_disturbance(baseline, name, change);
  note_disturbance(candidate, "this run", change);
  return change;
}

LogChange against_first(const GateEvidence& evidence, int subject, std::string_view metric) {
  const int first = static_cast<int>(first_of_group(evidence.run.plan, static_cast<std::size_t>(subject)));
  const auto& comparison = evidence.verdict.comparison;
  const PairedComparison* pairs = comparison ? paired(*comparison, first, subject, metric) : nullptr;
  LogChange change =
      pairs != nullptr
          ? change_from(*pairs)
          : unpaired(evidence.run, first, evidence, subject, metric,
                     fmt::format("'{}'", evidence.run.plan.subjects[static_cast<std::size_t>(first)].label));
  for (const Diagnostic& difference : like_for_like(evidence.run, first, subject)) {
    change.notes.push_back(difference.message);
  }
  const SubjectOutputs* outputs = evidence.verdict.subjects.at(static_cast<std::size_t>(subject)).outputs;
  if (outputs != nullptr && !outputs->comparison.agree) {
    change.notes.emplace_back(outputs->comparison.undecided
                                  ? "whether the outputs agree cannot be determined"
                                  : "the outputs differ, so that the figures are not of the same work");
  }
  return change;
}

LogChange not_judged(std::string why) {
  LogChange change;
  change.why = std::move(why);
  return change;
}

LogChange against_baseline(const GateEvidence& evidence, int subject, std::string_view metric) {
  const RunRecord& baseline = *evidence.baseline;
  const std::string& name = evidence.baseline_name;
  if (baseline.id == evidence.run.id) return not_judged(fmt::format("the baseline '{}' is this run itself", name));
  const auto other = same_subject(evidence.run, subject, baseline);
  if (!other) return not_judged(fmt::format("the baseline '{}' has no such subject", name));
  Conditions conditions = compare_conditions(evidence.run, subject, baseline, *other, name);
  LogChange change = unpaired(baseline, *other, evidence, subject, metric, fmt::format("the baseline '{}'", name));
  change.notes.insert(change.notes.begin(), conditions.changes.begin(), conditions.changes.end());
  if (conditions.obstacles.empty()) return change;
  change.interval.reset();
  change.why = "not like for like: " + conditions.obstacles.front();
  change.notes.insert(change.notes.begin(), conditions.obstacles.begin() + 1, conditions.obstacles.end());
  return change;
}

// The bound as a difference of logarithms.
double log_bound(const Expectation& expectation, bool lower_is_better) {
  if (expectation.kind == Kind::speedup) return -std::log(expectation.threshold);
  return lower_is_better ? std::log1p(expectation.threshold) : -std::log1p(-expectation.threshold);
}

// As the comparison itself says it: from its pairs and its looks.
std::optional<int> pairs_wanted(const Expectation& expectation, const PairedComparison& pairs,
                                const GateEvidence& evidence, double bound) {
  if (!evidence.run.plan.question || !pairs.estimate || !(pairs.spread > 0) || !std::isfinite(bound))
    return std::nullopt;
  const double from_bound = std::abs(bound - *pairs.estimate);
  const double distance =
      expectation.kind == Kind::no_regression ? std::max(std::abs(*pairs.estimate), from_bound) : from_bound;
  const Design design = share_of(design_of(evidence.run.plan), evidence.verdict.comparison->primary.size());
  return pairs_needed(design, static_cast<int>(pairs.differences.size()), distance / pairs.spread);
}

template <class Transform>
Finding transformed(LogChange change, Transform transform) {
  if (change.value) change.value = transform(*change.value);
  if (!change.interval) return change;
  const double one = transform(change.interval->low), other = transform(change.interval->high);
  change.interval = Interval{std::min(one, other), std::max(one, other), change.interval->confidence};
  return change;
}

// Nothing passes on figures of a load that is not valid, or too short for them.
void doubt_load(const RunRecord& run, int subject, const std::string& whose, const MetricKind* kind,
                LogChange& change) {
  if (kind == nullptr || (kind->source != MetricKind::Source::load_counter && !kind->of_iterations())) return;
  const auto load = judge_load(run.plan.subjects.at(static_cast<std::size_t>(subject)).load, trials_of(run, subject));
  if (!load) return;
  if (const std::string why = load->why_no_figure(kind->name); !why.empty()) {
    change.doubt = "the load does not give this figure";
    change.notes.push_back(fmt::format("{}: {}", whose, why));
  } else if (!load->valid()) {
    change.doubt = "the load is not valid";
    change.notes.push_back(fmt::format("{}: the load is not valid: {}", whose, load->findings.front().message));
  }
}

void doubt_loads(const GateEvidence& evidence, int subject, bool by_baseline, const MetricKind* kind,
                 LogChange& change) {
  const Plan& plan = evidence.run.plan;
  const auto label = [&](int of) { return fmt::format("'{}'", plan.subjects.at(static_cast<std::size_t>(of)).label); };
  doubt_load(evidence.run, subject, label(subject), kind, change);
  if (by_baseline) {
    if (const auto other = same_subject(evidence.run, subject, *evidence.baseline))
      doubt_load(*evidence.baseline, *other, fmt::format("the baseline '{}'", evidence.baseline_name), kind, change);
    return;
  }
  const int first = static_cast<int>(first_of_group(plan, static_cast<std::size_t>(subject)));
  if (first != subject) doubt_load(evidence.run, first, label(first), kind, change);
}

}  // namespace

Finding find_change(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  const bool by_baseline = evidence.baseline != nullptr && expectation.kind != Kind::speedup;
  LogChange change = by_baseline ? against_baseline(evidence, subject, expectation.name)
                                 : against_first(evidence, subject, expectation.name);
  const MetricKind* kind = metric_kind(expectation.name);
  doubt_loads(evidence, subject, by_baseline, kind, change);
  const bool lower_is_better = kind == nullptr || kind->lower_is_better;
  if (change.replication == "pairs") {
    const int first = static_cast<int>(first_of_group(evidence.run.plan, static_cast<std::size_t>(subject)));
    const PairedComparison& pairs = *paired(*evidence.verdict.comparison, first, subject, expectation.name);
    change.replications_wanted = pairs_wanted(expectation, pairs, evidence, log_bound(expectation, lower_is_better));
  }
  if (expectation.kind == Kind::speedup) {
    return transformed(std::move(change), [](double worse) { return std::exp(-worse); });
  }
  // By how much of the baseline's value it is worse: 10 % more time, 10 % fewer items per second.
  return transformed(std::move(change), [lower_is_better](double worse) {
    return lower_is_better ? std::expm1(worse) : -std::expm1(-worse);
  });
}

}  // namespace infermeter
