#include "infermeter/verdict/judge.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "infermeter/stats/summary/ratio.hpp"
#include "infermeter/verdict/answers/like_for_like.hpp"
#include "infermeter/verdict/answers/run_answers.hpp"
#include "infermeter/verdict/answers/run_checklist.hpp"
#include "infermeter/verdict/answers/trial_diagnostics.hpp"
#include "infermeter/verdict/apart/compare_apart.hpp"
#include "infermeter/verdict/comparison_diagnostics.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/nodes.hpp"
#include "infermeter/verdict/rounds/rounds.hpp"
#include "infermeter/verdict/summary_options.hpp"
#include "infermeter/verdict/tuning/constraints.hpp"
#include "infermeter/verdict/tuning/judge_tuning.hpp"
#include "infermeter/verdict/tuning/tuning_replay.hpp"

namespace infermeter {
namespace {

constexpr std::array<std::string_view, 3> compared_metrics = {"latency_p50", "throughput", "memory_peak"};

std::vector<std::vector<Samples>> trials_by_subject(const RunRecord& record) {
  std::vector<std::vector<Samples>> result(record.plan.subjects.size());
  for (const Samples* trial : trials_that_count(record)) {
    if (trial->subject < 0 || static_cast<std::size_t>(trial->subject) >= result.size()) continue;
    result[static_cast<std::size_t>(trial->subject)].push_back(*trial);
  }
  return result;
}

std::optional<int> baseline_of(const Plan& plan, std::size_t subject) {
  const std::size_t first = first_of_group(plan, subject);
  return first == subject ? std::nullopt : std::optional<int>(static_cast<int>(first));
}

const SubjectOutputs* outputs_of(const RunRecord& record, int subject) {
  const auto found = std::ranges::find(record.outputs, subject, &SubjectOutputs::subject);
  return found == record.outputs.end() ? nullptr : &*found;
}

// Tokens of a text are not independent of each other: texts are what is counted.
void judge_texts(const RunRecord& record, AccuracyVerdict& verdict) {
  const std::vector<double>& losses = verdict.measured->text_losses;
  verdict.perplexity = perplexity_of(losses);
  const auto first =
      std::ranges::find(record.accuracy, verdict.measured->reference.value_or(-1), &SubjectAccuracy::subject);
  if (first == record.accuracy.end() || first->text_losses.size() != losses.size()) return;
  if (verdict.perplexity && perplexity_of(first->text_losses))
    verdict.perplexity_change = compare_perplexity(first->text_losses, losses);
}

std::optional<AccuracyVerdict> accuracy_of(const RunRecord& record, int subject) {
  const auto found = std::ranges::find(record.accuracy, subject, &SubjectAccuracy::subject);
  if (found == record.accuracy.end()) return std::nullopt;
  AccuracyVerdict verdict{.measured = &*found, .share = found->accuracy.share(), .interval = {}};
  const auto& labels = found->accuracy.labels;
  if (found->is_of_texts()) {
    judge_texts(record, verdict);
    return verdict;
  }
  if (labels && labels->rows > 0) verdict.interval = proportion_interval(labels->top1, labels->rows);
  const auto& paired = found->paired;
  if (paired && paired->both + paired->reference_only + paired->candidate_only + paired->neither > 0) {
    verdict.change = compare_paired(paired->both, paired->reference_only, paired->candidate_only, paired->neither);
  }
  return verdict;
}

void append(std::vector<Diagnostic>& all, std::vector<Diagnostic> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Diagnostics of stages that do not know what a subject is called.
std::vector<Diagnostic> about(std::vector<Diagnostic> diagnostics, const std::string& label) {
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.about.empty()) diagnostic.about = label;
  }
  return diagnostics;
}

std::vector<double> numbers_from_one(std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  return numbers;
}

std::optional<LeakEstimate> judge_leak_trial(const RunRecord& record, int subject) {
  for (const Samples& trial : record.side_trials) {
    if (trial.purpose != Purpose::leak || trial.subject != subject || trial.memory_bytes.empty()) continue;
    return judge_leak(numbers_from_one(trial.memory_bytes.size()), trial.memory_bytes);
  }
  return std::nullopt;
}

// What is known from the first process of each subject.
SubjectVerdict known_of_subject(const RunRecord& record, std::size_t subject) {
  SubjectVerdict verdict;
  verdict.subject = static_cast<int>(subject);
  verdict.baseline = baseline_of(record.plan, subject);
  verdict.outputs = outputs_of(record, verdict.subject);
  verdict.accuracy = accuracy_of(record, verdict.subject);
  return verdict;
}

SubjectVerdict judge_subject(const RunRecord& record, const std::vector<std::vector<Samples>>& trials,
                             const SummaryOptions& options, std::size_t subject) {
  SubjectVerdict verdict = known_of_subject(record, subject);
  verdict.summary = summarise(trials[subject], options);
  verdict.summary.subject = verdict.subject;
  verdict.summary.diagnostics = about(std::move(verdict.summary.diagnostics), record.plan.subjects[subject].label);
  verdict.leak = judge_leak_trial(record, verdict.subject);
  verdict.load = judge_load(record.plan.subjects[subject].load, trials[subject]);
  return verdict;
}

// The ratios of one metric are one family: looking at many subjects makes no difference more likely.
void compare_with_baselines(const RunRecord& record, const std::vector<std::vector<Samples>>& trials,
                            const SummaryOptions& options, std::string_view metric,
                            std::vector<SubjectVerdict>& subjects) {
  const MetricKind& kind = *metric_kind(metric);
  const Pairing pairing = pairing_of(record);
  std::vector<RatioSide> sides;
  for (const auto& of_subject : trials) sides.push_back(ratio_side(of_subject, kind, options));
  std::vector<RatioSides> family;
  std::vector<SubjectVerdict*> candidates;
  for (SubjectVerdict& subject : subjects) {
    if (!subject.baseline) continue;
    const RatioSide& baseline = sides[static_cast<std::size_t>(*subject.baseline)];
    const RatioSide& candidate = sides[static_cast<std::size_t>(subject.subject)];
    if (!baseline.estimate.value || !candidate.estimate.value) {
      subject.ratios.push_back(
          {std::string(metric), ratio_of_sides(kind, baseline, candidate, options.coverage, pairing)});
      continue;
    }
    family.push_back({&baseline, &candidate});
    candidates.push_back(&subject);
  }
  const auto coverage_of = [&](std::size_t open) { return coverage_in_family(record, open); };
  const auto ratios = ratios_in_family(kind, family, coverage_of, pairing);
  for (std::size_t i = 0; i < ratios.size(); ++i) candidates[i]->ratios.push_back({std::string(metric), ratios[i]});
}

// The answer of a comparison and its table are about the same pairs.
void take_answers_from(const ComparisonVerdict& comparison, std::vector<SubjectVerdict>& subjects) {
  for (const PairedComparison& pairs : comparison.primary)
    subjects.at(static_cast<std::size_t>(pairs.candidate)).direction = pairs.direction;
  for (const auto* list : {&comparison.primary, &comparison.exploratory}) {
    for (const PairedComparison& pairs : *list) {
      auto& ratios = subjects.at(static_cast<std::size_t>(pairs.candidate)).ratios;
      const auto ratio = std::ranges::find(ratios, pairs.metric, &Ratio::metric);
      if (ratio != ratios.end() && pairs.estimate) ratio->estimate = ratio_of(pairs);
    }
  }
}

std::vector<Diagnostic> output_diagnostics(const RunRecord& record, const SubjectOutputs& outputs,
                                           const std::string& label) {
  std::vector<Diagnostic> all = about(outputs.comparison.diagnostics, label);
  if (outputs_may_differ(record.plan))
    std::erase_if(all, [](const auto& one) { return one.id == DiagnosticId::outputs_differ; });
  return all;
}

// All that there is to say about one subject, the worst first: what failed, what was compared with what, how it ran.
std::vector<Diagnostic> subject_diagnostics(const RunRecord& record, const SubjectVerdict& verdict,
                                            std::span<const Samples> trials) {
  const std::string& label = record.plan.subjects[static_cast<std::size_t>(verdict.subject)].label;
  std::vector<Diagnostic> all = failures(trials, label);
  if (verdict.outputs != nullptr) append(all, output_diagnostics(record, *verdict.outputs, label));
  // In a race the differences are what is tried.
  if (verdict.baseline && !record.plan.tuning) append(all, like_for_like(record, *verdict.baseline, verdict.subject));
  append(all, same_outputs_in_every_process(record, verdict.subject));
  append(all, load_diagnostics(verdict.load, label));
  append(all, merged_diagnostics(trials, label));
  append(all, verdict.summary.diagnostics);
  append(all, side_trial_diagnostics(record, verdict.subject));
  append(all, leak_diagnostics(verdict.leak, label));
  return all;
}

bool any_end(const RunRecord& record, std::initializer_list<TrialEnd> ends) {
  return std::ranges::any_of(trials_that_must_end_well(record),
                             [&](const Samples* trial) { return std::ranges::count(ends, trial->end) > 0; });
}

// What the user ought to look at first decides: being stopped, then what was asked for wrongly, then workers that died,
// then models that failed, then outputs that differ.
int run_exit_code(const RunRecord& record) {
  const auto is_interrupted = [](const Samples& trial) { return trial.end == TrialEnd::interrupted; };
  if (any_end(record, {TrialEnd::interrupted}) || std::ranges::any_of(record.side_trials, is_interrupted)) return 130;
  if (std::ranges::any_of(record.trials, &Samples::usage)) return 2;
  if (any_end(record, {TrialEnd::crashed, TrialEnd::timeout, TrialEnd::out_of_memory})) return 4;
  if (any_end(record, {TrialEnd::load_failed, TrialEnd::run_failed})) return 3;
  const auto differ = [](const SubjectOutputs& outputs) {
    return !outputs.comparison.agree && !outputs.comparison.undecided;
  };
  return std::ranges::any_of(record.outputs, differ) ? 1 : 0;
}

int comparison_exit_code(const Question& question, const ComparisonVerdict& comparison) {
  const auto is = [&](Direction direction) {
    return std::ranges::find(comparison.primary, direction, &PairedComparison::direction) != comparison.primary.end();
  };
  if (question.fail_slower && is(Direction::slower)) return 1;
  return question.fail_inconclusive && is(Direction::unresolved) ? 5 : 0;
}

// What fails in a race is left out of it.
int tuning_exit_code(const TuningVerdict& tuning, int of_run) {
  constexpr int interrupted = 130;
  if (of_run == interrupted || tuning.stage != TuningStage::ended) return of_run;
  return tuning.best ? 0 : 1;
}

}  // namespace

Verdict judge(const RunRecord& record) {
  const auto trials = trials_by_subject(record);
  Verdict verdict;
  const SummaryOptions options = summary_options(record);
  verdict.of_a_program = is_of_a_program(record);
  verdict.diagnostics = record.diagnostics;
  append(verdict.diagnostics, block_diagnostics(record));
  append(verdict.diagnostics, node_diagnostics(record));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    verdict.subjects.push_back(judge_subject(record, trials, options, i));
    append(verdict.diagnostics, subject_diagnostics(record, verdict.subjects.back(), trials[i]));
  }
  for (const std::string_view metric : compared_metrics)
    compare_with_baselines(record, trials, options, metric, verdict.subjects);
  for (SubjectVerdict& subject : verdict.subjects) {
    if (!subject.baseline) continue;
    subject.direction = direction_of(subject.ratios.front().estimate, record.plan.precision);
  }
  verdict.comparison =
      record.joined.empty() ? judge_comparison(record, record.finished) : std::optional(compare_apart(record));
  if (verdict.comparison) {
    take_answers_from(*verdict.comparison, verdict.subjects);
    append(verdict.diagnostics,
           record.joined.empty() ? comparison_diagnostics(record, *verdict.comparison) : diagnostics_of_joined(record));
  }
  verdict.tuning = judge_tuning(record, verdict);
  verdict.profile = find_in_profiles(record);
  if (verdict.profile) append(verdict.diagnostics, profile_diagnostics(record, *verdict.profile));
  verdict.exit_code = run_exit_code(record);
  if (verdict.exit_code == 0 && verdict.comparison) {
    verdict.exit_code = comparison_exit_code(*record.plan.question, *verdict.comparison);
  }
  if (verdict.tuning) verdict.exit_code = tuning_exit_code(*verdict.tuning, verdict.exit_code);
  verdict.answers = run_answers(record, verdict);
  verdict.checks = checklist(record, verdict, {.variants = verdict.tuning.has_value()});
  return verdict;
}

TuningVerdict judge_race(const RunRecord& record, RaceValues& known) {
  Verdict verdict;
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) verdict.subjects.push_back(known_of_subject(record, i));
  return TuningReplay(record, verdict, known).play();
}

}  // namespace infermeter
