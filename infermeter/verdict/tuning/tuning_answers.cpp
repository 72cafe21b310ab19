#include "infermeter/verdict/tuning/tuning_answers.hpp"

#include <algorithm>

#include "infermeter/verdict/answers/asides.hpp"
#include "infermeter/verdict/tuning/constraints.hpp"

namespace infermeter {
namespace {

std::vector<int> of_fate(const TuningVerdict& tuning, SettingFate fate) {
  std::vector<int> subjects;
  for (const TunedSetting& setting : tuning.settings) {
    if (setting.fate == fate) subjects.push_back(setting.subject);
  }
  return subjects;
}

// Undecided: what leads so far, and all that are not distinguished from it.
Answer best_answer(const RunRecord& record, const Verdict& verdict) {
  const TuningVerdict& tuning = *verdict.tuning;
  Answer answer{.topic = AnswerTopic::tuning,
                .kind = tuning.decided ? AnswerKind::best : AnswerKind::undecided,
                .tone = tuning.decided ? Tone::good : Tone::faint,
                .subjects = {*tuning.best},
                .metric = record.plan.tuning->objective};
  const SubjectVerdict& subject = verdict.subjects.at(static_cast<std::size_t>(*tuning.best));
  if (const Estimate* estimate = subject.summary.estimate(answer.metric)) {
    set_figure(*estimate, metric_kind(answer.metric)->unit, answer);
  } else if (answer.metric == "model_size") {
    answer.value = static_cast<double>(record.models.at(static_cast<std::size_t>(*tuning.best)).size_bytes);
    answer.unit = "bytes";
  }
  for (const int open : of_fate(tuning, SettingFate::open)) answer.subjects.push_back(open);
  // Of the one that all others are compared with there is nothing to say; nor of outputs that may differ, as the bounds
  // on them have answers of their own.
  const bool is_reference =
      std::ranges::find(record.outputs, *tuning.best, &SubjectOutputs::reference) != record.outputs.end();
  const bool is_bounded = outputs_differ(subject.outputs) && outputs_may_differ(record.plan);
  if (!is_reference && !is_bounded) add_outputs(subject.outputs, answer);
  return answer;
}

Answer bound_answer(const BoundVerdict& bound, int subject, std::size_t place) {
  Answer answer{.topic = AnswerTopic::bound,
                .kind = AnswerKind::inconclusive,
                .tone = Tone::warning,
                .subjects = {subject},
                .about = bound.constraint,
                .place = place,
                .value = bound.value,
                .interval = bound.interval,
                .reason = bound.why};
  if (bound.kept == BoundKept::yes) answer.kind = AnswerKind::pass, answer.tone = Tone::good;
  if (bound.kept == BoundKept::no) answer.kind = AnswerKind::fail, answer.tone = Tone::bad;
  return answer;
}

}  // namespace

std::vector<Answer> tuning_answers(const RunRecord& record, const Verdict& verdict) {
  const TuningVerdict& tuning = *verdict.tuning;
  if (!tuning.best) {
    const bool ended = tuning.stage == TuningStage::ended && !tuning.out_of_time;
    return {{.topic = AnswerTopic::tuning,
             .kind = ended ? AnswerKind::fail : AnswerKind::not_measured,
             .tone = ended ? Tone::bad : Tone::faint,
             .metric = record.plan.tuning->objective}};
  }
  std::vector<Answer> answers = {best_answer(record, verdict)};
  for (const auto* pairs : {&tuning.against_default, &tuning.against_second}) {
    if (*pairs) answers.push_back(answer_of_pairs(**pairs));
  }
  const auto& bounds = tuning.settings.at(static_cast<std::size_t>(*tuning.best)).bounds;
  for (std::size_t i = 0; i < bounds.size(); ++i) answers.push_back(bound_answer(bounds[i], *tuning.best, i));
  if (const auto equals = of_fate(tuning, SettingFate::equal); !equals.empty()) {
    answers.push_back({.topic = AnswerTopic::tuning, .kind = AnswerKind::equals, .subjects = equals});
  }
  const auto out =
      std::ranges::count_if(tuning.settings, [](const TunedSetting& one) { return one.out_after.has_value(); });
  if (out > 0) {
    answers.push_back({.topic = AnswerTopic::tuning, .kind = AnswerKind::out, .n = out, .n_of = "settings"});
  }
  if (record.plan.tuning->settings > record.plan.subjects.size()) {
    answers.push_back({.topic = AnswerTopic::design,
                       .kind = AnswerKind::searched,
                       .tone = Tone::warning,
                       .n = static_cast<std::int64_t>(record.plan.subjects.size()),
                       .n_of = "settings"});
  }
  return answers;
}

}  // namespace infermeter
