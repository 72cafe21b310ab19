#include "infermeter/verdict/answers/variants_answers.hpp"

namespace infermeter {
namespace {

Answer dominated(const ParetoVerdict& pareto, int index) {
  Answer answer{.topic = AnswerTopic::front, .kind = AnswerKind::dominated, .subjects = {index}};
  for (const std::size_t other : pareto.dominated_by) answer.subjects.push_back(static_cast<int>(other));
  return answer;
}

Answer variant_failure(const VariantFigures& figures, int index) {
  return {.topic = AnswerTopic::completion,
          .kind = AnswerKind::failed,
          .tone = Tone::bad,
          .subjects = {index},
          .about = figures.entry->label,
          .reason = figures.failure};
}

}  // namespace

std::vector<Answer> front_answers(const VariantsFigures& figures) {
  Answer front{.topic = AnswerTopic::front, .kind = AnswerKind::on_front};
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < figures.variants.size(); ++i) {
    const ParetoVerdict& pareto = figures.variants[i].pareto;
    const int index = static_cast<int>(i);
    if (pareto.place == ParetoPlace::front) front.subjects.push_back(index);
    if (pareto.place == ParetoPlace::dominated) answers.push_back(dominated(pareto, index));
  }
  if (!front.subjects.empty()) answers.insert(answers.begin(), std::move(front));
  return answers;
}

std::vector<Answer> variants_answers(const VariantsFigures& figures) {
  std::vector<Answer> answers = front_answers(figures);
  for (std::size_t i = 0; i < figures.variants.size(); ++i) {
    if (!figures.variants[i].failure.empty())
      answers.push_back(variant_failure(figures.variants[i], static_cast<int>(i)));
  }
  if (answers.empty()) {
    answers.push_back({.topic = AnswerTopic::level, .kind = AnswerKind::not_measured, .tone = Tone::faint});
  }
  return answers;
}

}  // namespace infermeter
