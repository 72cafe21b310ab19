#include "infermeter/verdict/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "infermeter/stats/comparison/design_power.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/distributions/normal.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/verdict/pilot.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/disturbance.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

// A subject's processes that ended well, ready for any metric.
class Processes {
 public:
  explicit Processes(const RunRecord& record) : subjects_(record.plan.subjects.size()) {
    const SummaryOptions options = summary_options(record);
    for (const Samples* trial : trials_that_count(record)) {
      if (trial->subject < 0 || static_cast<std::size_t>(trial->subject) >= subjects_.size()) continue;
      started_.insert(trial->process);
      if (trial->end != TrialEnd::ok) continue;
      auto& times = subjects_[static_cast<std::size_t>(trial->subject)];
      times.emplace(trial->process, subject_times(std::span(trial, 1), options));
    }
  }

  [[nodiscard]] const std::set<int>& started() const { return started_; }  // blocks of which a trial has ended

  [[nodiscard]] const SubjectTimes* find(int subject, int process) const {
    const auto& times = subjects_[static_cast<std::size_t>(subject)];
    const auto found = times.find(process);
    return found == times.end() ? nullptr : &found->second;
  }

  [[nodiscard]] std::optional<double> log_value(const MetricKind& kind, int subject, int process) const {
    const SubjectTimes* times = find(subject, process);
    if (times == nullptr) return std::nullopt;
    const auto values = process_values(kind, *times);
    if (values.size() != 1 || !(values[0] > 0)) return std::nullopt;
    return std::log(values[0]);
  }

  // When it ran: its place among all trials.
  [[nodiscard]] int position(int subject, int process) const {
    return find(subject, process)->trials.front()->position;
  }

  [[nodiscard]] bool disturbed(int subject, int process) const {
    const SubjectTimes* times = find(subject, process);
    return times != nullptr && !times->trials.empty() && is_disturbed(times->trials.front()->noise);
  }

 private:
  std::vector<std::map<int, SubjectTimes>> subjects_;
  std::set<int> started_;
};

PairedComparison paired_differences(const Question& question, const Processes& processes, const MetricKind& kind,
                                    int candidate) {
  PairedComparison result;
  result.candidate = candidate;
  result.metric = kind.name;
  for (const int pair : processes.started()) {
    const auto before = processes.log_value(kind, 0, pair), after = processes.log_value(kind, candidate, pair);
    if (!before || !after) {
      ++result.incomplete;
    } else if (question.drop_disturbed && (processes.disturbed(0, pair) || processes.disturbed(candidate, pair))) {
      ++result.dropped;
    } else {
      result.differences.push_back(kind.lower_is_better ? *after - *before : *before - *after);
      const int later = processes.position(candidate, pair) - processes.position(0, pair);
      result.order.push_back(later > 0 ? 1 : later < 0 ? -1 : 0);
    }
  }
  // Of a record that does not say who ran first.
  if (std::ranges::find(result.order, 0) != result.order.end()) result.order.clear();
  return result;
}

CoinPairs coin_pairs(const PairedComparison& comparison) { return {comparison.differences, comparison.order}; }

void describe(PairedComparison& comparison, double alpha) {
  const auto& d = comparison.differences;
  if (d.empty()) return;
  comparison.estimate = coin_estimate(coin_pairs(comparison));
  comparison.t = t_interval(d, 1 - alpha);
  comparison.sign = sign_interval(d, 1 - alpha);
  if (d.size() < 2) return;
  comparison.standard_deviation = std::sqrt(moments_of(d).variance);
  // What the test sees: without the order effect.
  comparison.spread = spread_of(centred(coin_pairs(comparison), *comparison.estimate));
}

// What the pairs of an ended comparison could show, and how many more it takes. Of several candidates each is given an
// equal share of alpha, the least that it may have had.
void describe_power(PairedComparison& comparison, const Design& design) {
  if (!(comparison.spread > 0)) return;
  const int pairs = static_cast<int>(comparison.differences.size());
  // A look that decided was the last one as planned; else the last one spent all that was left.
  const bool reported = comparison.direction != Direction::unresolved;
  if (const auto shown = detectable_effect(design, pairs, !reported)) {
    comparison.minimum_effect = *shown * comparison.spread;
  }
  if (reported || !comparison.estimate) return;
  // Half the interval must be shorter than what is to be distinguished: from 0, or from the margin.
  const double size = std::abs(*comparison.estimate);
  const auto needed = pairs_needed(design, pairs, std::max(size, design.margin - size) / comparison.spread);
  if (needed) comparison.more_pairs = *needed - pairs;
}

void take_last_look(PairedComparison& comparison, const std::vector<Look>& looks) {
  if (looks.empty()) return;
  const Look& last = looks.back();
  comparison.direction = last.direction;
  comparison.p = last.p;
  comparison.interval = last.interval;
  comparison.estimate = last.estimate;
  comparison.decided_pairs = last.pairs;
}

std::vector<PairedComparison> explore(const RunRecord& record, const Processes& processes, bool ended) {
  const Question& question = *record.plan.question;
  std::vector<PairedComparison> found;
  for (std::size_t candidate = 1; candidate < record.plan.subjects.size(); ++candidate) {
    for (const std::string_view name : exploratory_metrics) {
      if (name == question.metric) continue;
      PairedComparison one = paired_differences(question, processes, *metric_kind(name), static_cast<int>(candidate));
      if (one.differences.size() < 2) continue;
      describe(one, question.alpha);
      one.interval = coin_interval(coin_pairs(one), 1 - question.alpha);
      one.p = coin_p(coin_pairs(one));
      if (ended) describe_power(one, {.alpha = question.alpha, .looks = {static_cast<int>(one.differences.size())}});
      one.more_pairs.reset();  // they answer nothing
      found.push_back(std::move(one));
    }
  }
  std::vector<double> p;
  for (const PairedComparison& one : found) p.push_back(one.p);
  const auto adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].p = adjusted[i];
    found[i].direction = exploratory_direction(found[i], question);
  }
  return found;
}

// Of the look to come: an effect whose interval would just exclude 0, with the spread seen so far.
std::optional<NextLook> next_look(const Design& design, const PairedComparison& comparison) {
  const int pairs = static_cast<int>(comparison.differences.size());
  if (design.until_resolved) return NextLook{.pairs = std::max(pairs + 1, 3), .smallest_effect = {}};
  const auto next = std::ranges::upper_bound(design.looks, pairs);
  if (next == design.looks.end()) return std::nullopt;
  NextLook look{.pairs = *next, .smallest_effect = {}};
  if (pairs < 3) return look;
  const double level = planned_looks(design, *next, false).back().level;
  // The exact test of so few pairs may not reach the level.
  if (signed_ranks_within(static_cast<std::size_t>(*next), level / 2) == 0) return look;
  look.smallest_effect = normal_tail_quantile(level / 2) * comparison.spread / std::sqrt(*next);
  return look;
}

double wall_between(const RunRecord& record) {
  double first = HUGE_VAL, last = 0;
  for (const auto* trials : {&record.trials, &record.side_trials}) {
    for (const Samples& trial : *trials) {
      if (!has_outputs(trial.purpose)) continue;  // those come after the answer
      first = std::min(first, trial.started_at);
      last = std::max(last, trial.started_at + trial.wall_s);
    }
  }
  return last > first ? last - first : 0;
}

bool all_steady(const RunRecord& record) {
  if (!record.plan.automatic.warmup) return true;
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) {
    if (!find_in_pilots(record, i).is_steady()) return false;
  }
  return true;
}

}  // namespace

Direction exploratory_direction(const PairedComparison& one, const Question& question) {
  if (!one.interval) return Direction::unresolved;
  const auto [low, high, confidence] = *one.interval;
  if (one.p <= question.alpha && low > 0) return Direction::slower;
  if (one.p <= question.alpha && high < 0) return Direction::faster;
  const double margin = std::log1p(question.margin);
  return low >= -margin && high <= margin ? Direction::equivalent : Direction::unresolved;
}

const PairedComparison* paired(const ComparisonVerdict& comparison, int baseline, int candidate,
                               std::string_view metric) {
  for (const auto* list : {&comparison.primary, &comparison.exploratory}) {
    const auto found = std::ranges::find_if(*list, [&](const PairedComparison& one) {
      return one.baseline == baseline && one.candidate == candidate && one.metric == metric;
    });
    if (found != list->end()) return &*found;
  }
  return nullptr;
}

Estimate ratio_of(const PairedComparison& pairs) {
  Estimate ratio;
  ratio.value = std::exp(-*pairs.estimate);
  if (pairs.interval) {
    ratio.interval =
        Interval{std::exp(-pairs.interval->high), std::exp(-pairs.interval->low), pairs.interval->confidence};
  }
  ratio.n = pairs.pairs();
  ratio.processes = 2 * pairs.pairs();
  ratio.method = "Hodges-Lehmann of pairs, on logarithms; interval of the signed-rank test";
  ratio.note = pairs.interval ? "" : "too few pairs for an interval";
  const int apart = pairs.baseline_processes + pairs.candidate_processes;
  if (apart == 0) return ratio;
  ratio.n = ratio.processes = apart;
  ratio.method = "ratio of geometric means over processes of two runs; Welch's t interval on logarithms";
  ratio.note = pairs.interval ? "" : "needs 2 processes of each for an interval";
  return ratio;
}

std::optional<ComparisonVerdict> judge_comparison(const RunRecord& record, bool ended) {
  const MetricKind* kind = record.plan.question ? metric_kind(record.plan.question->metric) : nullptr;
  if (kind == nullptr || record.plan.subjects.size() < 2) return std::nullopt;
  const Question& question = *record.plan.question;
  const Design design = design_of(record.plan);
  const Processes processes(record);
  ComparisonVerdict verdict;
  verdict.ended = ended;
  verdict.wall_s = wall_between(record);
  verdict.steady = all_steady(record);

  for (std::size_t candidate = 1; candidate < record.plan.subjects.size(); ++candidate) {
    verdict.primary.push_back(paired_differences(question, processes, *kind, static_cast<int>(candidate)));
  }
  std::vector<CoinPairs> all;
  std::ranges::transform(verdict.primary, std::back_inserter(all), coin_pairs);
  verdict.looks = take_looks_together(all, design, ended);
  verdict.resolved = true;
  for (std::size_t i = 0; i < verdict.primary.size(); ++i) {
    PairedComparison& comparison = verdict.primary[i];
    describe(comparison, question.alpha);
    take_last_look(comparison, verdict.looks[i]);
    if (ended) describe_power(comparison, share_of(design, verdict.primary.size()));
    verdict.resolved = verdict.resolved && comparison.direction != Direction::unresolved;
    verdict.pairs = std::max(verdict.pairs, static_cast<int>(comparison.differences.size()));
  }
  const auto has_none = [](const PairedComparison& one) { return one.incomplete >= 3 && one.differences.empty(); };
  verdict.hopeless = std::ranges::all_of(verdict.primary, has_none);
  verdict.exploratory = explore(record, processes, ended);
  const auto unresolved = std::ranges::find(verdict.primary, Direction::unresolved, &PairedComparison::direction);
  if (!ended && unresolved != verdict.primary.end())
    verdict.next = next_look(share_of(design, verdict.primary.size()), *unresolved);
  return verdict;
}

Result<Done> check_comparable(const RunRecord& record) {
  if (!record.plan.question) return Done{};
  std::vector<std::string> shapes(record.plan.subjects.size());
  for (const auto* trials : {&record.side_trials, &record.trials}) {
    for (const Samples& trial : *trials) {
      std::string& shape = shapes.at(static_cast<std::size_t>(trial.subject));
      if (shape.empty()) shape = trial.executed_value("input_shape");
    }
  }
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    if (shapes[0].empty() || shapes[i].empty() || shapes[i] == shapes[0]) continue;
    return usage_error(fmt::format(
        "'{}' takes inputs of shape {} and '{}' of {}: times of different work are not compared; give both the same "
        "shape (--batch-sizes, --dim NAME=N), or measure them apart with `infermeter run`",
        record.plan.subjects[0].label, shapes[0], record.plan.subjects[i].label, shapes[i]));
  }
  return Done{};
}

}  // namespace infermeter
