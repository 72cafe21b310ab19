#include "infermeter/verdict/gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/verdict/across_runs.hpp"
#include "infermeter/verdict/answers/trial_diagnostics.hpp"
#include "infermeter/verdict/gate/finding.hpp"
#include "infermeter/verdict/gate/parse_expectation.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

// Beyond this there is no advice: nobody runs, or labels, so many.
constexpr int most_replications = 10'000;
constexpr int most_rows = 10'000'000;

bool is_regression(const Expectation& expectation) {
  return expectation.kind == Kind::regression || expectation.kind == Kind::no_regression;
}

bool is_first(const Plan& plan, std::size_t subject) { return first_of_group(plan, subject) == subject; }

// Expectations of a subject and the first of its group say nothing of that first one.
bool needs_first(const Expectation& expectation, bool has_baseline) {
  return expectation.compares() || (is_regression(expectation) && !has_baseline);
}

Result<Done> check_label(const PlacedText& label, const Plan& plan) {
  std::vector<std::string> labels;
  for (const Subject& subject : plan.subjects) labels.push_back(subject.label);
  if (std::ranges::find(labels, label.text) != labels.end()) return Done{};
  return label.error(0, fmt::format("no subject is called '{}'{}", label.text, did_you_mean(label.text, labels)));
}

std::vector<int> subjects_of(const Expectation& expectation, const Plan& plan, bool has_baseline) {
  std::vector<int> subjects;
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
    const bool meant = !expectation.subject || expectation.subject->text == plan.subjects[i].label;
    const bool judged = meant && !(needs_first(expectation, has_baseline) && is_first(plan, i));
    if (judged) subjects.push_back(static_cast<int>(i));
  }
  return subjects;
}

Result<Done> check_one(const Expectation& expectation, const Plan& plan, bool has_baseline) {
  if (is_regression(expectation) && !has_baseline && !plan.question) {
    return expectation.source.error(0,
                                    "a regression is against a baseline (baseline = \"NAME\", which `infermeter "
                                    "baseline set NAME RUN` makes), or within a comparison (`infermeter compare`)");
  }
  if (expectation.subject) INFERMETER_TRY_DONE(check_label(*expectation.subject, plan));
  if (!subjects_of(expectation, plan, has_baseline).empty()) return Done{};
  if (expectation.subject) {
    return expectation.subject->error(
        0, fmt::format("'{}' is the baseline: there is nothing to compare it with", expectation.subject->text));
  }
  return expectation.source.error(
      0, "this is about a subject and the first one of its group, and here no group has two subjects");
}

// A regression that is certain fails as soon as it may be larger than the margin; one that cannot be larger passes.
Outcome by_margin(double margin, const Interval& interval) {
  if (interval.high < margin) return Outcome::pass;
  return interval.low > 0 ? Outcome::fail : Outcome::inconclusive;
}

// How far the bound is from the value, as a share of the half-width on that side. Intervals of times and sizes are
// symmetric in logarithms.
double distance_in_half_widths(const Finding& finding, double bound) {
  const double value = *finding.value;
  const auto [low, high, confidence] = *finding.interval;
  if (low > 0 && bound > 0 && std::abs(std::log(high / value) - std::log(value / low)) < 1e-6 * std::log(high / low))
    return std::abs(std::log(bound / value)) / std::log(high / value);
  return std::abs(bound - value) / (bound >= value ? high - value : value - low);
}

std::optional<int> replications_wanted(const Finding& finding, double bound, int most) {
  if (finding.replications_wanted)
    return *finding.replications_wanted <= most ? finding.replications_wanted : std::nullopt;
  if (finding.replications < 2) return std::nullopt;
  const double share = distance_in_half_widths(finding, bound);
  if (finding.replication != "processes") {
    const double by_root = std::ceil(finding.replications / (share * share) * (1 - 1e-9));  // as (1/share)² as many
    return by_root <= most ? std::optional(static_cast<int>(by_root)) : std::nullopt;
  }
  return share > 0 ? replications_for(share, finding.replications, finding.interval->confidence, most) : std::nullopt;
}

// What would make the interval end before the bound.
std::string advice(const Finding& finding, double bound) {
  if (finding.replications <= 0) return "";
  const bool rows = finding.replication == "rows";
  const auto wanted = replications_wanted(finding, bound, rows ? most_rows : most_replications);
  if (!wanted) {
    return fmt::format("; the value is so close to the bound that more {} are unlikely to settle it",
                       finding.replication);
  }
  const int count = std::max(*wanted, finding.replications + 1);
  // A comparison ends when its own question is answered, unless it is told to go on.
  if (rows) return fmt::format("; about {} rows with labels would settle it", count);
  if (finding.replication == "texts")
    return fmt::format("; about {} texts would settle it (--data-limit {})", count, count);
  const char* option = finding.replication == "pairs" ? "--all-pairs --max-pairs" : "--processes";
  return fmt::format("; about {} {} would settle it ({} {})", count, finding.replication, option, count);
}

std::string reason_of(Outcome outcome, const Expectation& expectation, const Finding& finding) {
  if (finding.exact)
    return outcome == Outcome::pass ? "the figure is exact, and within the bound"
                                    : "the figure is exact, and beyond the bound";
  const bool margin = expectation.kind == Kind::no_regression;
  const std::string bound = margin ? "margin" : "bound";
  switch (outcome) {
    case Outcome::pass:
      return margin ? "the whole interval is below the margin" : "the whole interval keeps within the bound";
    case Outcome::fail:
      return margin ? "it is certain that it got worse, and it may be by more than the margin"
                    : "the whole interval violates the bound";
    case Outcome::inconclusive:
      return fmt::format("the interval includes the {}{}", bound, advice(finding, expectation.threshold));
  }
  return "";
}

void judge_finding(ExpectationVerdict& verdict, const Expectation& expectation, const Finding& finding) {
  if (finding.outcome) {
    verdict.outcome = *finding.outcome;
    verdict.reason = finding.why;
  } else if (const auto interval = interval_of(finding); !interval) {
    verdict.outcome = Outcome::inconclusive;
    verdict.reason = finding.why;
  } else {
    verdict.outcome = expectation.kind == Kind::no_regression ? by_margin(expectation.threshold, *interval)
                                                              : outcome_within_bound(expectation, finding);
    verdict.reason = reason_of(verdict.outcome, expectation, finding);
    if (!finding.doubt.empty() && verdict.outcome == Outcome::pass) {
      verdict.outcome = Outcome::inconclusive;
      verdict.reason += "; but " + finding.doubt;
    }
    if (finding.disturbed && verdict.outcome == Outcome::fail) {
      verdict.outcome = Outcome::inconclusive;
      verdict.reason +=
          "; but the machine was disturbed: measure both when it is quiet, or side by side (`infermeter "
          "compare`)";
    }
  }
}

// What ended trials of the subject before their time, worst first; empty: all ended well.
std::vector<Diagnostic> failures_of(const RunRecord& run, int subject) {
  auto found = failures(trials_of(run, subject), {});
  std::ranges::stable_partition(found, [](const Diagnostic& d) { return d.id == DiagnosticId::trial_failed; });
  return found;
}

// Of a subject that failed nothing is expected any more but that it runs.
bool judge_failures(ExpectationVerdict& verdict, const RunRecord& run) {
  const auto ends = failures_of(run, verdict.subject);
  if (ends.empty()) return false;
  const bool failed = ends.front().id == DiagnosticId::trial_failed;
  verdict.outcome = failed ? Outcome::fail : Outcome::inconclusive;
  verdict.reason = ends.front().message;
  for (auto other = ends.begin() + 1; other != ends.end(); ++other) verdict.notes.push_back(other->message);
  return true;
}

ExpectationVerdict judge_one(const Gate& gate, std::size_t index, int subject, const GateEvidence& evidence) {
  const Expectation& expectation = gate.expectations[index];
  ExpectationVerdict verdict;
  verdict.expectation = index;
  verdict.subject = subject;
  if (judge_failures(verdict, evidence.run)) return verdict;
  Finding finding = finding_of(expectation, subject, evidence);
  verdict.value = finding.value;
  verdict.interval = finding.interval;
  verdict.exact = finding.exact;
  verdict.n = finding.n;
  verdict.n_of = finding.n_of;
  verdict.processes = finding.processes;
  judge_finding(verdict, expectation, finding);
  verdict.notes = std::move(finding.notes);
  return verdict;
}

// The subjects that are judged, and those that they are compared with.
bool matters(const Gate& gate, const GateEvidence& evidence, const GateVerdict& verdict, int subject) {
  const bool has_baseline = evidence.baseline != nullptr;
  return std::ranges::any_of(verdict.verdicts, [&](const ExpectationVerdict& one) {
    const auto index = static_cast<std::size_t>(one.subject);
    return one.subject == subject || (needs_first(gate.expectations[one.expectation], has_baseline) &&
                                      static_cast<int>(first_of_group(evidence.run.plan, index)) == subject);
  });
}

bool is_of_accuracy(const Expectation& expectation) {
  return expectation.kind == Kind::accuracy_figure || expectation.kind == Kind::accuracy_drop ||
         expectation.kind == Kind::perplexity_increase;
}

// Accuracy was asked for, of data that have no labels.
bool lacks_labels(const Gate& gate, const GateEvidence& evidence, const GateVerdict& verdict) {
  if (!evidence.run.accuracy.empty()) return false;
  return std::ranges::any_of(verdict.verdicts, [&](const ExpectationVerdict& one) {
    return is_of_accuracy(gate.expectations[one.expectation]) && !one.value &&
           failures_of(evidence.run, one.subject).empty();
  });
}

int gate_exit_code(const Gate& gate, const GateEvidence& evidence, const GateVerdict& verdict) {
  const auto any = [&](auto is) {
    return std::ranges::any_of(trials_that_must_end_well(evidence.run), [&](const Samples* trial) {
      return is(*trial) && matters(gate, evidence, verdict, trial->subject);
    });
  };
  const auto any_end = [&](std::initializer_list<TrialEnd> ends) {
    return any([&](const Samples& trial) { return std::ranges::count(ends, trial.end) > 0; });
  };
  if (!evidence.run.finished) return 130;
  if (any([](const Samples& trial) { return trial.usage; })) return 2;
  if (lacks_labels(gate, evidence, verdict)) return 2;
  if (any_end({TrialEnd::crashed, TrialEnd::timeout, TrialEnd::out_of_memory})) return 4;
  if (any_end({TrialEnd::load_failed, TrialEnd::run_failed})) return 3;
  if (verdict.failed > 0) return 1;
  return gate.fail_inconclusive && verdict.inconclusive > 0 ? 5 : 0;
}

// A difference of PSNR, of the first of a group that does not count one itself: it would be one from itself.
bool is_from_itself(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  if (expectation.kind != Kind::psnr_difference) return false;
  const Plan& plan = evidence.run.plan;
  const auto first = static_cast<std::size_t>(subject);
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
    if (i != first && first_of_group(plan, i) == first)
      return !find_process_value(expectation, subject, evidence).value;
  }
  return false;
}

}  // namespace

Outcome outcome_of(const GateVerdict& verdict) {
  if (verdict.failed > 0) return Outcome::fail;
  return verdict.inconclusive > 0 ? Outcome::inconclusive : Outcome::pass;
}

Result<Gate> make_gate(const GateFile& file, std::string name) {
  Gate gate{.name = std::move(name), .expectations = {}, .fail_inconclusive = file.fail_inconclusive};
  for (const ExpectationDraft& draft : file.expectations) {
    INFERMETER_TRY(Expectation expectation, parse_expectation(draft));
    gate.expectations.push_back(std::move(expectation));
  }
  return gate;
}

Result<Done> check_gate(const Gate& gate, const Plan& plan, bool has_baseline) {
  for (const Expectation& expectation : gate.expectations) {
    INFERMETER_TRY_DONE(check_one(expectation, plan, has_baseline));
  }
  return Done{};
}

bool asks_for_regression(const Gate& gate) { return std::ranges::any_of(gate.expectations, is_regression); }

int runs_wanted(const Gate& gate) {
  int wanted = 1;
  for (const Expectation& expectation : gate.expectations) wanted = std::max(wanted, expectation.runs);
  return wanted;
}

std::size_t repeated_subjects(const RunRecord& run, const RunRecord& other) {
  std::size_t count = 0;
  for (int subject = 0; subject < static_cast<int>(run.plan.subjects.size()); ++subject) {
    const auto same = same_subject(run, subject, other);
    count += same && is_repetition(run, subject, other, *same) ? 1 : 0;
  }
  return count;
}

GateVerdict judge_gate(const Gate& gate, const GateEvidence& evidence) {
  GateVerdict verdict;
  const bool has_baseline = evidence.baseline != nullptr;
  for (std::size_t i = 0; i < gate.expectations.size(); ++i) {
    for (const int subject : subjects_of(gate.expectations[i], evidence.run.plan, has_baseline)) {
      if (is_from_itself(gate.expectations[i], subject, evidence)) continue;
      verdict.verdicts.push_back(judge_one(gate, i, subject, evidence));
    }
  }
  for (const ExpectationVerdict& one : verdict.verdicts) {
    verdict.passed += one.outcome == Outcome::pass ? 1 : 0;
    verdict.failed += one.outcome == Outcome::fail ? 1 : 0;
    verdict.inconclusive += one.outcome == Outcome::inconclusive ? 1 : 0;
  }
  if (has_baseline) {
    verdict.baseline_name = evidence.baseline_name;
    verdict.baseline_run = evidence.baseline->id;
  }
  verdict.exit_code = gate_exit_code(gate, evidence, verdict);
  return verdict;
}

}  // namespace infermeter
