#include "infermeter/verdict/gate/prediction.hpp"

#include <algorithm>
#include <utility>

#include "infermeter/verdict/gate/finding.hpp"

namespace infermeter {
namespace {

std::optional<double> count_of(const Verdict& verdict, int subject, std::string_view name) {
  const auto& counters = verdict.subjects.at(static_cast<std::size_t>(subject)).summary.counters;
  const auto found = std::ranges::find(counters, name, &CounterSummary::name);
  return found == counters.end() ? std::nullopt : found->estimate.value;
}

bool is_positive(const std::optional<double>& count) { return count && *count > 0; }

Prediction prediction_of(const GateEvidence& evidence, int subject, std::string_view counter, std::string_view metric) {
  Prediction prediction{.subject = subject, .counter = std::string(counter), .metric = std::string(metric)};
  prediction.first = static_cast<int>(first_of_group(evidence.run.plan, static_cast<std::size_t>(subject)));
  if (!counter.empty()) {
    prediction.first_count = count_of(evidence.verdict, prediction.first, counter);
    prediction.count = count_of(evidence.verdict, subject, counter);
  }
  if (is_positive(prediction.first_count) && is_positive(prediction.count)) {
    prediction.predicted = *prediction.first_count / *prediction.count;
  }
  const Expectation speedup{.kind = Expectation::Kind::speedup, .name = prediction.metric};
  Finding measured = find_change(speedup, subject, evidence);
  prediction.measured = measured.value;
  prediction.interval = measured.interval;
  prediction.why = std::move(measured.why);
  return prediction;
}

}  // namespace

std::vector<Prediction> predict(const RunRecord& run, const Verdict& verdict, std::string_view counter,
                                std::string_view metric) {
  const GateEvidence evidence{.run = run, .verdict = verdict};
  std::vector<Prediction> all;
  for (std::size_t subject = 0; subject < run.plan.subjects.size(); ++subject) {
    if (first_of_group(run.plan, subject) == subject) continue;
    all.push_back(prediction_of(evidence, static_cast<int>(subject), counter, metric));
  }
  return all;
}

std::optional<PredictionFit> fit_of(const Prediction& prediction) {
  if (!prediction.predicted || !prediction.interval) return std::nullopt;
  if (*prediction.predicted > prediction.interval->high) return PredictionFit::less_than_predicted;
  if (*prediction.predicted < prediction.interval->low) return PredictionFit::more_than_predicted;
  return PredictionFit::as_predicted;
}

std::string_view to_string(PredictionFit fit) {
  switch (fit) {
    case PredictionFit::as_predicted: return "as predicted";
    case PredictionFit::less_than_predicted: return "less than predicted";
    case PredictionFit::more_than_predicted: return "more than predicted";
  }
  return "";
}

}  // namespace infermeter
