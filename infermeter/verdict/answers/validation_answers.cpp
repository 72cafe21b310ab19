#include "infermeter/verdict/answers/validation_answers.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/verdict/answers/accuracy_answers.hpp"
#include "infermeter/verdict/answers/gate_answers.hpp"

namespace infermeter {
namespace {

constexpr int candidate = 1, baseline = 0;

Answer about_both(AnswerTopic topic, AnswerKind kind, Tone tone) {
  return {.topic = topic, .kind = kind, .tone = tone, .subjects = {candidate}, .baseline = baseline};
}

Answer about_output(AnswerTopic topic, AnswerKind kind, Tone tone, const std::vector<OutputDifference>& outputs,
                    std::size_t index) {
  Answer answer = about_both(topic, kind, tone);
  answer.about = outputs[index].name;
  answer.place = index;
  return answer;
}

void set_largest(const OutputDifference& output, Answer& answer) {
  answer.metric = "max_absolute_difference";
  answer.value = output.max_absolute;
}

Answer all_agree(const Validation& validation) {
  const auto& outputs = validation.outputs.outputs;
  const auto largest = std::ranges::max_element(outputs, {}, [](const OutputDifference& o) {
    return o.allowed > 0 ? o.max_absolute.value_or(0) / o.allowed : o.max_absolute.value_or(0);
  });
  Answer answer = about_both(AnswerTopic::outputs, AnswerKind::outputs_agree, Tone::good);
  answer.n = static_cast<std::int64_t>(validation.items.size());
  answer.n_of = "items";
  if (largest == outputs.end()) return answer;
  answer.about = largest->name;
  answer.place = static_cast<std::size_t>(largest - outputs.begin());
  set_largest(*largest, answer);
  return answer;
}

Answer one_differs(const Validation& validation, std::size_t index) {
  const auto& outputs = validation.outputs.outputs;
  // Where labels decide, outputs need not be alike.
  const bool decides = !outcome_by_truth(validation);
  Answer answer =
      about_output(AnswerTopic::outputs, AnswerKind::outputs_differ, decides ? Tone::bad : Tone::plain, outputs, index);
  if (outputs[index].comparable) {
    set_largest(outputs[index], answer);
    return answer;
  }
  answer.kind = AnswerKind::outputs_not_comparable;
  answer.tone = Tone::bad;
  answer.reason = outputs[index].reason;
  return answer;
}

void add_outputs_found(const Validation& validation, std::vector<Answer>& answers) {
  if (validation.outputs.agree) answers.push_back(all_agree(validation));
  for (const Diagnostic& diagnostic : validation.outputs.diagnostics) {
    // Of the outputs as a whole; those of single outputs follow.
    const bool of_all =
        diagnostic.id == DiagnosticId::outputs_not_comparable && !diagnostic.message.starts_with("output '");
    if (!of_all) continue;
    answers.push_back(about_both(AnswerTopic::outputs, AnswerKind::outputs_not_comparable, Tone::bad));
    answers.back().reason = diagnostic.message;
  }
  const auto& outputs = validation.outputs.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].comparable || !outputs[i].within_tolerance) {
      answers.push_back(one_differs(validation, i));
    } else if (!outputs[i].undecided.empty()) {
      answers.push_back(about_output(AnswerTopic::outputs, AnswerKind::outputs_undecided, Tone::warning, outputs, i));
      answers.back().reason = outputs[i].undecided;
    }
  }
}

// What some figures are, where they are no ordinary number.
void add_odd_values(const std::vector<OutputDifference>& outputs, std::size_t index, std::vector<Answer>& answers) {
  const OutputDifference& o = outputs[index];
  if (!o.comparable) return;
  const auto add = [&](AnswerKind kind, Tone tone, const char* metric, std::uint64_t count) {
    Answer& answer = answers.emplace_back(about_output(AnswerTopic::values, kind, tone, outputs, index));
    answer.metric = metric;
    if (count > 0) answer.value = static_cast<double>(count);
  };
  if (const auto count = o.nan_reference + o.inf_reference; count > 0) {
    add(AnswerKind::not_finite, Tone::warning, "non_finite_reference", count);
  }
  if (o.non_finite_apart > 0) add(AnswerKind::not_finite, Tone::bad, "non_finite_apart", o.non_finite_apart);
  if (o.data_range && *o.data_range == 0 && o.element_count > 1) {
    add(AnswerKind::constant, Tone::plain, "", 0);
  } else if (o.psnr_db && std::isinf(*o.psnr_db) && o.ssim) {
    add(AnswerKind::equal, Tone::plain, "", 0);
  }
}

void add_repetition(const Validation& validation, std::vector<Answer>& answers) {
  const auto& outputs = validation.again.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const OutputDifference& o = outputs[i];
    if (o.comparable && o.max_absolute.value_or(0) == 0 && o.non_finite_apart == 0) continue;
    Answer& answer = answers.emplace_back(
        about_output(AnswerTopic::repetition, AnswerKind::does_not_repeat, Tone::warning, outputs, i));
    answer.subjects = {baseline};
    answer.n = static_cast<std::int64_t>(validation.again_items);
    answer.n_of = "items";
    if (o.comparable && o.non_finite_apart == 0) set_largest(o, answer);
    if (!o.comparable) answer.reason = o.reason;
  }
}

AnswerKind kind_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return AnswerKind::accurate_enough;
    case Outcome::fail: return AnswerKind::not_accurate_enough;
    case Outcome::inconclusive: break;
  }
  return AnswerKind::undecided;
}

Tone tone_of_accuracy(const AccuracyDrop& accuracy) {
  const auto outcome = outcome_of(accuracy);
  if (!outcome) return accuracy.change && accuracy.change->interval.high < 0 ? Tone::warning : Tone::plain;
  return tone_of(*outcome);
}

Answer accuracy_found(const AccuracyDrop& accuracy) {
  const auto outcome = outcome_of(accuracy);
  Answer answer = about_both(AnswerTopic::accuracy, outcome ? kind_of(*outcome) : kind_of_change(accuracy.change),
                             tone_of_accuracy(accuracy));
  answer.metric = "accuracy_change";
  answer.unit = "share";
  if (accuracy.change) answer.value = accuracy.change->difference, answer.interval = accuracy.change->interval;
  return answer;
}

Answer perplexity_found(const PerplexityChange& perplexity) {
  const auto outcome = outcome_of(perplexity);
  AnswerKind kind = AnswerKind::undecided;
  if (outcome) {
    kind = kind_of(*outcome);
  } else if (perplexity.interval && (perplexity.interval->low > 0 || perplexity.interval->high < 0)) {
    kind = perplexity.increase > 0 ? AnswerKind::less_accurate : AnswerKind::more_accurate;
  }
  Tone tone = kind == AnswerKind::less_accurate ? Tone::warning : Tone::plain;
  if (outcome) tone = tone_of(*outcome);
  Answer answer = about_both(AnswerTopic::accuracy, kind, tone);
  answer.metric = perplexity_metric;
  answer.unit = "share";
  answer.value = perplexity.increase;
  answer.interval = perplexity.interval;
  return answer;
}

}  // namespace

Answer agreement(const Validation& validation) {
  const bool by_labels = outcome_by_truth(validation).has_value();
  switch (outcome_of(validation)) {
    case Outcome::pass:
      return about_both(AnswerTopic::agreement, by_labels ? AnswerKind::accurate_enough : AnswerKind::outputs_agree,
                        Tone::good);
    case Outcome::inconclusive:
      return about_both(AnswerTopic::agreement, by_labels ? AnswerKind::undecided : AnswerKind::outputs_undecided,
                        Tone::warning);
    case Outcome::fail: break;
  }
  const bool by_drop = by_labels && validation.outputs.agree;
  return about_both(AnswerTopic::agreement, by_drop ? AnswerKind::not_accurate_enough : AnswerKind::outputs_differ,
                    Tone::bad);
}

std::vector<Answer> validation_findings(const Validation& validation) {
  std::vector<Answer> answers;
  add_outputs_found(validation, answers);
  if (validation.accuracy) answers.push_back(accuracy_found(*validation.accuracy));
  if (validation.perplexity) answers.push_back(perplexity_found(*validation.perplexity));
  add_repetition(validation, answers);
  const auto& outputs = validation.outputs.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) add_odd_values(outputs, i, answers);
  worst_first(answers);
  return answers;
}

std::vector<Answer> validation_answers(const Validation& validation) {
  std::vector<Answer> answers = validation_findings(validation);
  answers.insert(answers.begin(), agreement(validation));
  return answers;
}

}  // namespace infermeter
