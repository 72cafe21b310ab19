#include "infermeter/verdict/gate/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

const SubjectVerdict& verdict_of(int subject, const GateEvidence& evidence) {
  return evidence.verdict.subjects.at(static_cast<std::size_t>(subject));
}

// "needs 299 iterations" with what brings them.
std::string with_remedy(const std::string& note) {
  if (note.ends_with("of the processes for an interval")) return note + " (--processes)";
  if (!note.starts_with("needs ")) return note;
  if (note.find("iterations") != std::string::npos) return note + " (--iterations)";
  return note.find("process") != std::string::npos ? note + " (--processes 3)" : note;
}

Finding finding_with_remedy(const Estimate& estimate) {
  Finding finding = finding_from(estimate);
  finding.why = with_remedy(estimate.note);
  return finding;
}

// The same fact in every process is exact; one process cannot tell.
Finding finding_from(const std::vector<double>& values, const Centre& centre) {
  Finding finding;
  finding.value = centre.value;
  finding.interval = centre.interval;
  finding.n = static_cast<std::int64_t>(values.size());
  finding.n_of = "processes";
  finding.processes = finding.replications = static_cast<int>(values.size());
  finding.exact = values.size() >= 2 && std::ranges::all_of(values, [&](double v) { return v == values.front(); });
  if (values.size() < 2) finding.why = with_remedy("needs 2 processes for an interval");
  return finding;
}

std::optional<double> counter_of(const Samples& trial, std::string_view name) {
  const auto found = std::ranges::find(trial.counters, name, &Counter::name);
  if (found == trial.counters.end() || !std::isfinite(found->value)) return std::nullopt;
  return found->value;
}

std::string why_no_counter(const Expectation& expectation, const SubjectTimes& times) {
  if (expectation.kind == Kind::psnr_difference) return "not measured";
  std::vector<std::string> known;
  for (const Samples* trial : times.trials) {
    for (const Counter& counter : trial->counters) known.push_back(counter.name);
  }
  return fmt::format("no process counted '{}'{}", expectation.name, did_you_mean(expectation.name, known));
}

// Of the subject's own counter, where it has one; else of what each says of its own outputs' quality.
Finding find_difference_of_psnr(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  Finding own = find_process_value(expectation, subject, evidence);
  if (own.value) return own;
  for (const std::string_view counter : {"truth_psnr_db", "psnr_db"}) {
    Finding difference = find_counter_difference(counter, subject, evidence);
    if (difference.value) return difference;
  }
  return own;
}

}  // namespace

bool satisfies(double value, const Expectation& expectation) {
  switch (expectation.relation) {
    case Relation::less: return value < expectation.threshold;
    case Relation::less_or_equal: return value <= expectation.threshold;
    case Relation::greater: return value > expectation.threshold;
    case Relation::greater_or_equal: return value >= expectation.threshold;
    case Relation::equal: return value == expectation.threshold;
  }
  return false;
}

Finding finding_from(const Estimate& estimate) {
  Finding finding;
  finding.value = estimate.value;
  finding.interval = estimate.interval;
  finding.n = estimate.n;
  finding.processes = finding.replications = estimate.processes;
  finding.why = estimate.note;
  return finding;
}

std::optional<Interval> interval_of(const Finding& finding) {
  if (!finding.value) return std::nullopt;
  return finding.exact ? Interval{*finding.value, *finding.value} : finding.interval;
}

Outcome outcome_within_bound(const Expectation& expectation, const Finding& finding) {
  const std::optional<Interval> interval = interval_of(finding);
  if (!interval) return Outcome::inconclusive;
  const auto [low, high, confidence] = *interval;
  const bool first = satisfies(low, expectation), last = satisfies(high, expectation);
  if (first && last) return Outcome::pass;
  const bool between = low <= expectation.threshold && expectation.threshold <= high;
  if (expectation.relation == Relation::equal && between) return Outcome::inconclusive;
  return first || last ? Outcome::inconclusive : Outcome::fail;
}

Finding nothing(std::string why) {
  Finding finding;
  finding.why = std::move(why);
  return finding;
}

Finding find_metric(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  const MetricKind* kind = metric_kind(expectation.name);
  if (kind == nullptr) return nothing("not measured");
  const Metric* metric = verdict_of(subject, evidence).summary.metric(expectation.name);
  const auto& load = verdict_of(subject, evidence).load;
  const bool of_load = kind->source == MetricKind::Source::load_counter;
  if (load && of_load) {
    if (const std::string why = load->why_no_figure(expectation.name); !why.empty()) return nothing(why);
  }
  const SummaryOptions options = summary_options(evidence.run);
  // Figures of a load are counters, and not among the metrics of a summary.
  Finding finding = finding_with_remedy(
      metric != nullptr ? metric->estimate
                        : estimate(*kind, subject_times(trials_of(evidence.run, subject), options, Wanted::any_order),
                                   options.coverage));
  // The least and the greatest that was seen are facts about the run, and no estimates of anything else.
  finding.exact = !kind->per_process() && finding.value;
  finding.n_of = kind->of_iterations() ? "iterations" : "processes";
  if (!load || load->valid() || !(of_load || kind->of_iterations())) return finding;
  finding.doubt = "the load is not valid";
  finding.notes.push_back("the load is not valid: " + load->findings.front().message);
  return finding;
}

Finding find_model_fact(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  const auto facts_of = [&](std::size_t index) {
    return index < evidence.run.models.size() ? evidence.run.models[index] : ModelFacts{};
  };
  const auto index = static_cast<std::size_t>(subject);
  const ModelFacts facts = facts_of(index);
  Finding finding;
  if (expectation.kind == Kind::parameters || expectation.kind == Kind::nonzero_parameters) {
    const bool all = expectation.kind == Kind::parameters;
    const auto& count = all ? facts.parameters : facts.nonzero_parameters;
    if (!count) return nothing(all ? "the model's format does not contain it" : "the non-zero ones were not counted");
    finding.value = static_cast<double>(*count);
  } else {
    if (facts.size_bytes == 0) return nothing("the model's size is not known");
    finding.value = static_cast<double>(facts.size_bytes);
    if (expectation.kind == Kind::size_reduction) {
      const ModelFacts first = facts_of(first_of_group(evidence.run.plan, index));
      if (first.size_bytes == 0) return nothing("the first subject's size is not known");
      finding.value = static_cast<double>(first.size_bytes) / static_cast<double>(facts.size_bytes);
    }
  }
  finding.exact = true;
  return finding;
}

Finding find_process_value(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  const auto trials = trials_of(evidence.run, subject);
  const auto times = subject_times(trials, summary_options(evidence.run), Wanted::any_order);
  std::vector<double> values;
  for (const ProcessTimes& process : times.processes) {
    if (expectation.kind == Kind::memory_after_load) {
      const auto bytes = process.trial->memory.rss_after_load;
      if (bytes) values.push_back(static_cast<double>(*bytes));
    } else if (const auto value = counter_of(*process.trial, expectation.name)) {
      values.push_back(*value);
    }
  }
  const bool is_size = expectation.kind == Kind::memory_after_load;
  if (values.empty()) return nothing(is_size ? "not measured" : why_no_counter(expectation, times));
  // A counter as reports show it.
  const Coverage coverage = summary_options(evidence.run).coverage;
  const double level = coverage.of_processes;
  return finding_from(values,
                      covering(is_size ? centre_of(values, level) : arithmetic_centre_of(values, level), coverage));
}

Finding find_leak(int subject, const GateEvidence& evidence) {
  const auto& leak = verdict_of(subject, evidence).leak;
  for (const Samples& trial : evidence.run.side_trials) {
    const bool looked = trial.purpose == Purpose::leak && trial.subject == subject;
    if (!leak && looked && trial.end != TrialEnd::ok)
      return nothing(fmt::format("the process that looks for a leak did not end well: {}",
                                 trial.message.empty() ? to_string(trial.end) : std::string_view(trial.message)));
  }
  if (!leak) return nothing("memory was not looked at after each iteration (--leak-iterations 2000)");
  Finding finding;
  finding.value = leak->bytes_per_iteration;
  finding.interval = leak->interval;
  finding.processes = 1;
  finding.n_of = "iterations";
  for (const Samples& trial : evidence.run.side_trials) {
    const bool looked = trial.purpose == Purpose::leak && trial.subject == subject;
    if (looked) finding.n = static_cast<std::int64_t>(trial.memory_bytes.size());
  }
  finding.why = leak->reason;
  switch (leak->verdict) {
    case LeakVerdict::no_leak:
      finding.outcome = Outcome::pass;
      if (leak->detectable_bytes_per_iteration) {
        finding.notes.push_back(
            fmt::format("less than {:.0f} bytes per iteration would not be seen: more iterations "
                        "see less (--leak-iterations)",
                        *leak->detectable_bytes_per_iteration));
      }
      break;
    case LeakVerdict::leak: finding.outcome = Outcome::fail; break;
    case LeakVerdict::cannot_tell: finding.outcome = Outcome::inconclusive; break;
  }
  return finding;
}

Finding finding_of(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  switch (expectation.kind) {
    case Kind::metric: return find_metric(expectation, subject, evidence);
    case Kind::model_size:
    case Kind::size_reduction:
    case Kind::parameters:
    case Kind::nonzero_parameters: return find_model_fact(expectation, subject, evidence);
    case Kind::memory_after_load:
    case Kind::counter: return find_process_value(expectation, subject, evidence);
    case Kind::psnr_difference: return find_difference_of_psnr(expectation, subject, evidence);
    case Kind::counter_difference: return find_counter_difference(expectation.name, subject, evidence);
    case Kind::outputs_repeat: return find_repeated_outputs(subject, evidence);
    case Kind::accuracy_figure:
    case Kind::accuracy_drop:
    case Kind::perplexity_increase: return find_accuracy(expectation, subject, evidence);
    case Kind::output_figure:
    case Kind::outputs_agree: return find_output_figure(expectation, subject, evidence);
    case Kind::speedup:
    case Kind::regression:
    case Kind::no_regression: return find_change(expectation, subject, evidence);
    case Kind::no_leak: return find_leak(subject, evidence);
    case Kind::reproducible: return find_reproducibility(expectation, subject, evidence);
  }
  return nothing("not measured");
}

}  // namespace infermeter
