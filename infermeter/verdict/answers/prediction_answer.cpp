#include "infermeter/verdict/answers/prediction_answer.hpp"

namespace infermeter {
namespace {

AnswerKind kind_of_fit(PredictionFit fit) {
  switch (fit) {
    case PredictionFit::less_than_predicted: return AnswerKind::less_than_predicted;
    case PredictionFit::more_than_predicted: return AnswerKind::more_than_predicted;
    case PredictionFit::as_predicted: break;
  }
  return AnswerKind::as_predicted;
}

}  // namespace

Answer prediction_answer(const Prediction& prediction, std::size_t place) {
  const auto fit = fit_of(prediction);
  Answer answer{.topic = AnswerTopic::prediction,
                .kind = AnswerKind::measured,
                .subjects = {prediction.subject},
                .baseline = prediction.first,
                .about = prediction.counter,
                .place = place,
                .metric = prediction.metric,
                .value = prediction.measured,
                .interval = prediction.interval,
                .unit = "x",
                .reason = prediction.why};
  if (prediction.counter.empty()) return answer;
  answer.kind = fit ? kind_of_fit(*fit) : AnswerKind::predicted;
  answer.tone = !fit ? Tone::faint : *fit == PredictionFit::as_predicted ? Tone::good : Tone::plain;
  if (prediction.predicted) {
    answer.besides.push_back({.topic = AnswerTopic::prediction,
                              .kind = AnswerKind::predicted,
                              .subjects = answer.subjects,
                              .baseline = answer.baseline,
                              .metric = prediction.metric,
                              .value = prediction.predicted,
                              .unit = "x"});
  }
  return answer;
}

}  // namespace infermeter
