#include "infermeter/verdict/tuning/judge_tuning.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "infermeter/verdict/answers/pareto.hpp"
#include "infermeter/verdict/tuning/tuning_replay.hpp"

namespace infermeter {
namespace {

using FrontFigures = std::vector<std::optional<ParetoValue>>;

// Differences within the indifference are none: half of it on either side.
std::optional<ParetoValue> front_value(const SubjectVerdict& subject, std::string_view name, double indifference) {
  const Estimate* estimate = subject.summary.estimate(name);
  if (estimate == nullptr || !estimate->value) return std::nullopt;
  const double value = *estimate->value;
  Interval interval = estimate->interval.value_or(Interval{value, value});
  interval.low = std::min(interval.low, value * (1 - indifference / 2));
  interval.high = std::max(interval.high, value * (1 + indifference / 2));
  return ParetoValue{.value = value, .interval = interval};
}

std::optional<ParetoValue> model_size_value(const RunRecord& record, int subject) {
  const auto index = static_cast<std::size_t>(subject);
  if (index >= record.models.size() || record.models[index].size_bytes == 0) return std::nullopt;
  return ParetoValue{.value = static_cast<double>(record.models[index].size_bytes), .exact = true};
}

std::optional<ParetoValue> accuracy_value(const SubjectVerdict& subject) {
  if (!subject.accuracy || !subject.accuracy->share) return std::nullopt;
  return ParetoValue{.value = *subject.accuracy->share, .interval = subject.accuracy->interval};
}

bool may_be_on_front(const TunedSetting& setting) {
  switch (setting.fate) {
    case SettingFate::best:
    case SettingFate::equal:
    case SettingFate::open:
    case SettingFate::worse: return true;
    default: return false;
  }
}

// Of settings that kept to the constraints, answer as the default does, and were measured more than once.
void find_front(const RunRecord& record, const Verdict& verdict, TuningVerdict& tuning) {
  const MetricKind* kind = metric_kind(record.plan.tuning->objective);
  const double near = record.plan.tuning->indifference;
  const bool own = kind != nullptr && kind->name != "latency_p50" && kind->name != "memory_peak";
  const std::array<bool, 5> lower = {true, true, true, false, kind == nullptr || kind->lower_is_better};
  std::vector<FrontFigures> points;
  std::vector<TunedSetting*> placed;
  for (TunedSetting& setting : tuning.settings) {
    const SubjectVerdict& subject = verdict.subjects.at(static_cast<std::size_t>(setting.subject));
    if (!may_be_on_front(setting) || subject.summary.trials_ok < 2) continue;
    FrontFigures figures = {front_value(subject, "latency_p50", near), front_value(subject, "memory_peak", near),
                            model_size_value(record, setting.subject), accuracy_value(subject)};
    if (own) figures.push_back(front_value(subject, kind->name, near));
    points.push_back(std::move(figures));
    placed.push_back(&setting);
  }
  const auto places = pareto_front(std::span(lower).first(own ? 5 : 4), points);
  for (std::size_t i = 0; i < placed.size(); ++i) placed[i]->on_front = places[i].place == ParetoPlace::front;
}

}  // namespace

std::optional<TuningVerdict> judge_tuning(const RunRecord& record, const Verdict& verdict) {
  if (!record.plan.tuning || record.plan.subjects.empty()) return std::nullopt;
  RaceValues values;
  TuningVerdict tuning = TuningReplay(record, verdict, values).play();
  find_front(record, verdict, tuning);
  tuning.wall_s = wall_s(record.trials) + wall_s(record.side_trials);
  return tuning;
}

}  // namespace infermeter
