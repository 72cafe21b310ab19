#include "infermeter/verdict/variants/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infermeter/stats/summary/proportions.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

const SubjectVerdict* subject_verdict(const Verdict& verdict, std::optional<int> subject) {
  if (!subject) return nullptr;
  const auto found = std::ranges::find(verdict.subjects, *subject, &SubjectVerdict::subject);
  return found == verdict.subjects.end() ? nullptr : &*found;
}

bool has_latency(const SubjectVerdict& subject) {
  const Metric* metric = subject.summary.metric("latency_p50");
  return metric != nullptr && metric->estimate.value;
}

std::string failure_of(const RunRecord& record, const VariantFigures& figures) {
  if (!figures.entry->refusal.empty()) return figures.entry->refusal;
  for (const SubjectVerdict* subject : figures.subjects) {
    if (subject == nullptr) continue;
    if (const Samples* failed = failed_trial(record, subject->subject); failed != nullptr) {
      const std::string what = failed->message.empty() ? end_of(*failed) : failed->message;
      return has_latency(*subject) ? "in part: " + what : what;
    }
  }
  return "";
}

std::optional<ParetoValue> point_of(const SubjectVerdict* subject, std::string_view metric) {
  const Metric* found = subject == nullptr ? nullptr : subject->summary.metric(metric);
  if (found == nullptr || !found->estimate.value) return std::nullopt;
  return ParetoValue{.value = *found->estimate.value, .interval = found->estimate.interval};
}

std::optional<ParetoValue> memory_point(const SubjectVerdict* subject) {
  return point_of(subject, subject != nullptr && is_on_device(*subject) ? "device_memory_peak" : "memory_peak");
}

std::optional<ParetoValue> accuracy_point(const SubjectAccuracy* accuracy) {
  if (accuracy == nullptr || !accuracy->accuracy.share()) return std::nullopt;
  ParetoValue point{.value = *accuracy->accuracy.share()};
  const auto& labels = accuracy->accuracy.labels;
  const bool of_rows = labels && labels->rows > 0 && !accuracy->is_of_texts();
  if (of_rows) point.interval = proportion_interval(labels->top1, labels->rows);
  return point;
}

// The baseline's own error is 0, and what rounding leaves is none.
std::optional<ParetoValue> error_point(const VariantFigures& figures, bool is_baseline) {
  if (is_baseline) return ParetoValue{.value = 0, .exact = true};
  if (!figures.output_error) return std::nullopt;
  return ParetoValue{.value = *figures.output_error < rounding_error ? 0 : *figures.output_error, .exact = true};
}

std::optional<ParetoValue> size_point(const VariantFigures& figures) {
  if (!figures.size_bytes) return std::nullopt;
  return ParetoValue{.value = static_cast<double>(*figures.size_bytes), .exact = true};
}

std::optional<std::uint64_t> size_of(const ModelFacts* model) {
  if (model == nullptr || model->size_bytes == 0) return std::nullopt;
  return model->size_bytes;
}

void place_on_front(VariantsFigures& all) {
  const bool by_accuracy =
      std::ranges::any_of(all.variants, [](const VariantFigures& one) { return one.accuracy != nullptr; });
  std::vector<std::vector<std::optional<ParetoValue>>> points;
  std::vector<VariantFigures*> placed;
  for (VariantFigures& one : all.variants) {
    const SubjectVerdict* subject = one.subjects.empty() ? nullptr : one.subjects.front();
    if (subject == nullptr || !has_latency(*subject)) continue;
    points.push_back({by_accuracy ? accuracy_point(one.accuracy) : error_point(one, &one == &all.variants.front()),
                      point_of(subject, "latency_p50"), memory_point(subject), size_point(one)});
    placed.push_back(&one);
  }
  all.pareto_of = {by_accuracy ? "accuracy" : "output error", "latency", "memory", "size"};
  const std::array<bool, 4> lower_is_better = {!by_accuracy, true, true, true};
  const auto verdicts = pareto_front(lower_is_better, points);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    placed[i]->pareto = verdicts[i];
    // Indices of points become those of variants.
    for (std::size_t& other : placed[i]->pareto.dominated_by)
      other = static_cast<std::size_t>(placed[other] - all.variants.data());
  }
}

// Runtimes for processors without float16 arithmetic compute in float32 all the same.
bool computes_in_float32(const RunRecord& record, const Samples& trial) {
  if (trial.executed_value("device") != "cpu") return false;
  const auto& flags = record.environment.flags;
  const bool lacks_float16 =
      record.environment.architecture == "x86_64" && std::ranges::find(flags, "avx512_fp16") == flags.end();
  return lacks_float16 || trial.executed_value("dtype") == "float32";
}

// Of the same model as it was given, on the same back end with the same settings; nullptr: there is none.
const SubjectVerdict* float32_beside(const RunRecord& record, const VariantsFigures& all,
                                     const SubjectVerdict& subject) {
  const Subject& own = subject_at(record, subject.subject);
  for (const VariantFigures& other : all.variants) {
    if (other.entry->kind != "float32" || other.subjects.empty() || other.subjects.front() == nullptr) continue;
    const Subject& its = subject_at(record, other.subjects.front()->subject);
    if (its.backend == own.backend && its.threads == own.threads && its.options == own.options)
      return other.subjects.front();
  }
  return nullptr;
}

// The baseline may run on another back end: what float16 brings is reported by float32 on the same one.
void remark_on_float16(const RunRecord& record, const VariantsFigures& all, VariantFigures& figures) {
  const SubjectVerdict* subject = figures.subjects.empty() ? nullptr : figures.subjects.front();
  if (figures.entry->kind != "float16" || subject == nullptr || !has_latency(*subject)) return;
  const auto trial = std::ranges::find_if(
      record.trials, [&](const Samples& one) { return one.subject == subject->subject && one.end == TrialEnd::ok; });
  if (trial == record.trials.end() || !computes_in_float32(record, *trial)) return;
  const SubjectVerdict* float32 = float32_beside(record, all, *subject);
  if (float32 == nullptr) return;
  const Ratio gain = ratio(trials_of(record, float32->subject), trials_of(record, subject->subject), "latency_p50",
                           summary_options(record), Pairing::blocks);
  const auto& interval = gain.estimate.interval;
  constexpr double least_gain = 1.01;
  std::string remark = "float16 is executed as float32 here: half the size";
  if (interval && interval->low > 1) {
    remark += "; where it is faster, float16 arithmetic is not why";
  } else if (interval && interval->high < least_gain) {
    remark += ", no faster";
  } else {
    remark += "; whether it is faster is undecided";
  }
  figures.remarks.push_back(std::move(remark));
}

void remark_on_pruning(VariantFigures& figures) {
  if (!figures.entry->kind.starts_with("pruned-") || figures.model == nullptr) return;
  figures.remarks.emplace_back(
      "its zeros are stored and multiplied like other weights: no smaller, no faster by themselves");
}

}  // namespace

std::optional<double> output_error(const SubjectVerdict* subject) {
  if (subject == nullptr || subject->outputs == nullptr) return std::nullopt;
  std::optional<double> largest;
  for (const OutputDifference& output : subject->outputs->comparison.outputs) {
    if (!output.comparable || output.non_finite_apart > 0) return std::nullopt;
    const bool is_same = output.max_absolute.value_or(0) == 0;
    if (!output.relative_l2 && !is_same) return std::nullopt;
    largest = std::max(largest.value_or(0), output.relative_l2.value_or(0));
  }
  return largest;
}

VariantsFigures figures_of_variants(const RunRecord& record, const Verdict& verdict, const VariantSet& set) {
  VariantsFigures all;
  for (const VariantEntry& entry : set.entries) {
    VariantFigures& one = all.variants.emplace_back();
    one.entry = &entry;
    for (const auto& subject : entry.subjects) {
      one.subjects.push_back(subject_verdict(verdict, subject));
      one.failed.push_back(subject && failed_trial(record, *subject) != nullptr);
    }
    one.failure = failure_of(record, one);
    const SubjectVerdict* first = one.subjects.empty() ? nullptr : one.subjects.front();
    if (first == nullptr) continue;
    one.model = model_of(record, first->subject);
    one.size_bytes = size_of(one.model);
    one.output_error = output_error(first);
    const auto accuracy = std::ranges::find(record.accuracy, first->subject, &SubjectAccuracy::subject);
    if (accuracy != record.accuracy.end()) one.accuracy = &*accuracy;
    for (const SubjectVerdict* subject : one.subjects) {
      if (subject == nullptr) continue;
      for (auto& recommendation : recommend(record, *subject)) one.recommendations.push_back(recommendation);
    }
    remark_on_pruning(one);
  }
  for (VariantFigures& one : all.variants) remark_on_float16(record, all, one);
  place_on_front(all);
  return all;
}

}  // namespace infermeter
