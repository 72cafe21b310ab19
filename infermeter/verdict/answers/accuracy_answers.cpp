#include "infermeter/verdict/answers/accuracy_answers.hpp"

namespace infermeter {
namespace {

void add_change(const PairedProportions& change, Answer& answer) {
  answer.besides.push_back({.topic = AnswerTopic::accuracy,
                            .kind = answer.kind,
                            .tone = answer.tone,
                            .subjects = answer.subjects,
                            .baseline = answer.baseline,
                            .metric = "accuracy_change",
                            .value = change.difference,
                            .interval = change.interval,
                            .unit = "share"});
}

Answer of_labels(const SubjectVerdict& subject, const LabelAccuracy& labels) {
  const AccuracyVerdict& accuracy = *subject.accuracy;
  Answer answer{.topic = AnswerTopic::accuracy,
                .kind = AnswerKind::unknown,
                .tone = Tone::faint,
                .subjects = {subject.subject},
                .baseline = subject.baseline,
                .metric = "accuracy",
                .unit = "share"};
  if (!accuracy.share || !accuracy.interval) return answer;
  answer.value = accuracy.share;
  answer.interval = accuracy.interval;
  answer.n = static_cast<std::int64_t>(labels.rows);
  answer.n_of = "rows";
  answer.kind = kind_of_change(accuracy.change);
  answer.tone = tone_of_change(accuracy.change);
  if (accuracy.change) add_change(*accuracy.change, answer);
  return answer;
}

Answer of_texts(const SubjectVerdict& subject) {
  const AccuracyVerdict& accuracy = *subject.accuracy;
  Answer answer{.topic = AnswerTopic::accuracy,
                .kind = accuracy.perplexity ? AnswerKind::measured : AnswerKind::unknown,
                .tone = accuracy.perplexity ? Tone::plain : Tone::faint,
                .subjects = {subject.subject},
                .baseline = subject.baseline,
                .metric = "perplexity",
                .value = accuracy.perplexity,
                .unit = "1",
                .n = static_cast<std::int64_t>(accuracy.measured->text_losses.size()),
                .n_of = "texts"};
  const auto& change = accuracy.perplexity_change;
  if (!change || !change->interval) return answer;
  const bool is_more = change->interval->low > 0, is_less = change->interval->high < 0;
  answer.kind = is_more ? AnswerKind::less_accurate : is_less ? AnswerKind::more_accurate : AnswerKind::undecided;
  answer.tone = is_more ? Tone::warning : is_less ? Tone::good : Tone::faint;
  return answer;
}

Answer of_masks(const SubjectVerdict& subject) {
  const auto& share = subject.accuracy->share;
  return {.topic = AnswerTopic::accuracy,
          .kind = share ? AnswerKind::measured : AnswerKind::unknown,
          .tone = share ? Tone::plain : Tone::faint,
          .subjects = {subject.subject},
          .baseline = subject.baseline,
          .metric = "accuracy",
          .value = share,
          .unit = "share",
          .n_of = "pixels"};
}

}  // namespace

AnswerKind kind_of_change(const std::optional<PairedProportions>& change) {
  if (!change) return AnswerKind::measured;
  if (change->interval.high < 0) return AnswerKind::less_accurate;
  return change->interval.low > 0 ? AnswerKind::more_accurate : AnswerKind::undecided;
}

Tone tone_of_change(const std::optional<PairedProportions>& change) {
  if (!change) return Tone::plain;
  if (change->interval.high < 0) return Tone::warning;
  return change->interval.low > 0 ? Tone::good : Tone::faint;
}

std::vector<Answer> accuracy_answers(const Verdict& verdict) {
  std::vector<Answer> answers;
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (!subject.accuracy) continue;
    const Accuracy& accuracy = subject.accuracy->measured->accuracy;
    if (subject.accuracy->measured->is_of_texts()) {
      answers.push_back(of_texts(subject));
    } else if (accuracy.labels) {
      answers.push_back(of_labels(subject, *accuracy.labels));
    } else if (accuracy.masks) {
      answers.push_back(of_masks(subject));
    }
  }
  return answers;
}

}  // namespace infermeter
