#include "infermeter/verdict/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "infermeter/diagnostics/nearest.hpp"
#include "infermeter/stats/metrics.hpp"
#include "infermeter/stats/moments.hpp"
#include "infermeter/stats/normal.hpp"
#include "infermeter/stats/process_times.hpp"
#include "infermeter/stats/signed_rank.hpp"
#include "infermeter/stats/spending.hpp"
#include "infermeter/verdict/pilot.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

constexpr auto short_names = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"p50", "latency_p50"},
    {"p90", "latency_p90"},
    {"p95", "latency_p95"},
    {"p99", "latency_p99"},
    {"mean", "latency_mean"},
    {"throughput", "throughput"},
    {"peak_memory", "memory_peak"},
    {"load_time", "load_time"},
});
constexpr std::array exploratory_metrics = {"latency_p50", "latency_p90", "latency_mean",
                                            "throughput",  "memory_peak", "load_time"};
// Beyond these a pair is disturbed, if the question says that disturbed pairs are dropped.
constexpr double most_steal = 0.02;
constexpr double most_foreign_processors = 0.5;

bool is_disturbed(const NoiseRecord& noise) {
  return noise.throttled_s.value_or(0) > 0 || noise.steal.value_or(0) > most_steal ||
         noise.foreign_cpu.value_or(0) > most_foreign_processors;
}

// A subject's processes that ended well, ready for any metric.
class Processes {
 public:
  explicit Processes(const RunRecord& record) : subjects_(record.plan.subjects.size()) {
    const SummaryOptions options = summary_options(record.plan.outliers);
    for (const Samples& trial : record.trials) {
      if (trial.subject < 0 || static_cast<std::size_t>(trial.subject) >= subjects_.size()) continue;
      started_ = std::max(started_, trial.process + 1);
      if (trial.end != TrialEnd::ok) continue;
      auto& times = subjects_[static_cast<std::size_t>(trial.subject)];
      times.emplace(trial.process, subject_times(std::span(&trial, 1), options));
    }
  }

  [[nodiscard]] int started() const { return started_; }  // blocks of which a trial has ended

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

  [[nodiscard]] bool disturbed(int subject, int process) const {
    const SubjectTimes* times = find(subject, process);
    return times != nullptr && !times->trials.empty() && is_disturbed(times->trials.front()->noise);
  }

 private:
  std::vector<std::map<int, SubjectTimes>> subjects_;
  int started_ = 0;
};

PairedComparison paired_differences(const Question& question, const Processes& processes, const MetricKind& kind,
                                    int candidate) {
  PairedComparison result;
  result.candidate = candidate;
  result.metric = kind.name;
  for (int pair = 0; pair < processes.started(); ++pair) {
    const auto before = processes.log_value(kind, 0, pair), after = processes.log_value(kind, candidate, pair);
    if (!before || !after) {
      ++result.incomplete;
    } else if (question.drop_disturbed && (processes.disturbed(0, pair) || processes.disturbed(candidate, pair))) {
      ++result.dropped;
    } else {
      result.differences.push_back(kind.lower_is_better ? *after - *before : *before - *after);
    }
  }
  return result;
}

void describe(PairedComparison& comparison, double alpha) {
  const auto& d = comparison.differences;
  if (d.empty()) return;
  comparison.estimate = hodges_lehmann(d);
  comparison.t = t_interval(d, 1 - alpha);
  comparison.sign = sign_interval(d, 1 - alpha);
  if (d.size() < 2) return;
  comparison.standard_deviation = std::sqrt(moments_of(d).variance);
  comparison.minimum_effect = minimum_detectable_effect(comparison.standard_deviation, static_cast<int>(d.size()));
}

// Half the interval must be shorter than what is to be told apart: from 0, or from the margin.
std::optional<int> more_pairs(const PairedComparison& comparison, double margin) {
  if (comparison.direction != Direction::unresolved || !comparison.estimate) return std::nullopt;
  const double size = std::abs(*comparison.estimate);
  const auto needed = pairs_needed(comparison.standard_deviation, std::max(size, margin - size));
  if (!needed) return std::nullopt;
  return std::max(1, *needed - static_cast<int>(comparison.differences.size()));
}

void take_last_look(PairedComparison& comparison, const std::vector<Look>& looks) {
  if (looks.empty()) return;
  const Look& last = looks.back();
  comparison.direction = last.direction;
  comparison.p = last.p;
  comparison.interval = last.interval;
  comparison.estimate = last.estimate;
}

std::vector<PairedComparison> explore(const RunRecord& record, const Processes& processes) {
  const Question& question = *record.plan.question;
  std::vector<PairedComparison> found;
  for (std::size_t candidate = 1; candidate < record.plan.subjects.size(); ++candidate) {
    for (const std::string_view name : exploratory_metrics) {
      if (name == question.metric) continue;
      PairedComparison one = paired_differences(question, processes, *metric_kind(name), static_cast<int>(candidate));
      if (one.differences.size() < 2) continue;
      describe(one, question.alpha);
      one.interval = hodges_lehmann_interval(one.differences, 1 - question.alpha);
      one.p = signed_rank_p(one.differences);
      found.push_back(std::move(one));
    }
  }
  std::vector<double> p;
  for (const PairedComparison& one : found) p.push_back(one.p);
  const auto adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].p = adjusted[i];
  return found;
}

// Of the look to come: an effect whose interval would just exclude 0, with the spread seen so far.
std::optional<NextLook> next_look(const Design& design, const PairedComparison& comparison) {
  const int pairs = static_cast<int>(comparison.differences.size());
  if (design.until_resolved) return NextLook{.pairs = std::max(pairs + 1, 3), .smallest_effect = {}};
  const auto next = std::ranges::upper_bound(design.looks, pairs);
  if (next == design.looks.end()) return std::nullopt;
  NextLook look{.pairs = *next, .smallest_effect = {}};
  if (pairs < 3 || *next < 16) return look;  // the exact test cannot reach the first look's level
  const auto upto = static_cast<std::size_t>(next - design.looks.begin()) + 1;
  const auto levels = spending_levels(design.alpha, std::span(design.looks).first(upto), design.looks.back(),
                                      upto == design.looks.size());
  const double z = normal_tail_quantile(levels.back() / 2);
  look.smallest_effect = z * comparison.standard_deviation / std::sqrt(*next);
  return look;
}

double wall_between(const RunRecord& record) {
  double first = HUGE_VAL, last = 0;
  for (const auto* trials : {&record.trials, &record.side_trials}) {
    for (const Samples& trial : *trials) {
      if (!tells_outputs(trial.purpose)) continue;  // those come after the answer
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

Design design_of(const Plan& plan) {
  const Question& question = *plan.question;
  return {.alpha = question.alpha,
          .margin = std::log1p(question.margin),
          .looks = question.all_pairs ? std::vector{plan.processes} : usual_looks(plan.processes),
          .until_resolved = question.until_resolved};
}

}  // namespace

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

  std::vector<std::vector<double>> all;
  for (std::size_t candidate = 1; candidate < record.plan.subjects.size(); ++candidate) {
    verdict.primary.push_back(paired_differences(question, processes, *kind, static_cast<int>(candidate)));
    all.push_back(verdict.primary.back().differences);
  }
  verdict.looks = take_looks_together(all, design, ended);
  verdict.resolved = true;
  for (std::size_t i = 0; i < verdict.primary.size(); ++i) {
    PairedComparison& comparison = verdict.primary[i];
    describe(comparison, question.alpha);
    take_last_look(comparison, verdict.looks[i]);
    if (!verdict.steady) comparison.direction = Direction::unresolved;
    comparison.more_pairs = more_pairs(comparison, design.margin);
    verdict.resolved = verdict.resolved && comparison.direction != Direction::unresolved;
    verdict.pairs = std::max(verdict.pairs, static_cast<int>(comparison.differences.size()));
  }
  const auto has_none = [](const PairedComparison& one) { return one.incomplete >= 3 && one.differences.empty(); };
  verdict.hopeless = std::ranges::all_of(verdict.primary, has_none);
  verdict.exploratory = explore(record, processes);
  const auto unresolved = std::ranges::find(verdict.primary, Direction::unresolved, &PairedComparison::direction);
  if (!ended && unresolved != verdict.primary.end()) verdict.next = next_look(design, *unresolved);
  return verdict;
}

Result<std::string> metric_from_string(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [word, metric] : short_names) {
    if (name == word || name == metric) return std::string(metric);
    known.emplace_back(word);
  }
  if (const MetricKind* kind = metric_kind(name); kind != nullptr && kind->per_process()) return std::string(name);
  return usage_error(
      fmt::format("there is no metric '{}'{}: p50, p90, p95, p99, mean, throughput, peak_memory or "
                  "load_time",
                  name, did_you_mean(name, known)));
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
