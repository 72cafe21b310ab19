#include "infermeter/report/study/prediction_text.hpp"

#include <fmt/format.h>

#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/text/quoted.hpp"
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

Tone prediction_tone(const std::optional<PredictionFit>& fit) {
  if (!fit) return Tone::faint;
  return *fit == PredictionFit::as_predicted ? Tone::good : Tone::plain;
}

}  // namespace

Sentence prediction_sentence(const RunRecord& record, const Prediction& prediction) {
  const auto fit = fit_of(prediction);
  if (prediction.counter.empty()) {
    return {Tone::plain,
            fmt::format("{}: {}; against {}, by {}", prediction_label(record, prediction.subject),
                        prediction_measured_text(prediction), prediction_label(record, prediction.first),
                        metric_name(prediction.metric)),
            "measured"};
  }
  return {prediction_tone(fit),
          fmt::format("{}: {}; {}", prediction_label(record, prediction.subject), predicted_text(record, prediction),
                      prediction_measured_text(prediction)),
          fit ? std::string(to_string(*fit)) : "predicted"};
}

}  // namespace infermeter
