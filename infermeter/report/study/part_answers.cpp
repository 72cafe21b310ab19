#include "infermeter/report/study/part_answers.hpp"

#include <fmt/format.h>

#include <vector>

#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/answers/prediction_answer.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

std::string prediction_label(const RunRecord& record, int subject) {
  return printable(record.plan.subjects.at(static_cast<std::size_t>(subject)).label, 120);
}

std::string predicted_text(const RunRecord& record, const Prediction& prediction) {
  const std::string counter = printable(prediction.counter, 60);
  if (!prediction.first_count || !prediction.count) {
    const int missing = prediction.first_count ? prediction.subject : prediction.first;
    return fmt::format("{} was not counted by {}, so that nothing is predicted", counter,
                       prediction_label(record, missing));
  }
  const std::string counts =
      fmt::format("{} {} against {}", counter, plain_number(*prediction.first_count), plain_number(*prediction.count));
  if (!prediction.predicted) return counts + " predicts nothing: both must be positive";
  return fmt::format("{} predicts {}", counts, format_ratio(*prediction.predicted));
}

std::string prediction_measured_text(const Prediction& prediction) {
  if (!prediction.measured) return "not measured" + (prediction.why.empty() ? "" : ": " + printable(prediction.why));
  std::string text = "measured " + with_interval(*prediction.measured, prediction.interval, format_ratio);
  if (const auto fit = fit_of(prediction)) text += fmt::format(", {}", to_string(*fit));
  if (!prediction.interval && !prediction.why.empty()) text += ": " + printable(prediction.why);
  return text;
}

WordedAnswer prediction_in_words(const RunRecord& record, const Prediction& prediction, std::size_t place) {
  const Answer answer = prediction_answer(prediction, place);
  const std::string label = prediction_label(record, prediction.subject);
  if (prediction.counter.empty()) {
    return {answer, fmt::format("{}: {}; against {}, by {}", label, prediction_measured_text(prediction),
                                prediction_label(record, prediction.first), metric_name(prediction.metric))};
  }
  return {answer,
          fmt::format("{}: {}; {}", label, predicted_text(record, prediction), prediction_measured_text(prediction))};
}

}  // namespace

void leave_to_the_metric(const StudiedPart& part, std::vector<WordedAnswer>& answers) {
  if (part.record.plan.question || part.predictions.empty()) return;
  std::erase_if(answers, [](const WordedAnswer& one) { return word_of(one.answer) == "cannot tell"; });
}

std::vector<WordedAnswer> run_answers_of(const StudiedPart& part) {
  std::vector<WordedAnswer> all = worded_answers(part.record, judge(part.record));
  leave_to_the_metric(part, all);
  return all;
}

std::vector<WordedAnswer> predictions_of(const StudiedPart& part) {
  std::vector<WordedAnswer> all;
  for (std::size_t i = 0; i < part.predictions.size(); ++i)
    all.push_back(prediction_in_words(part.record, part.predictions[i], i));
  return all;
}

}  // namespace infermeter
