// Predictions: what a subject's own counters say about how much faster it ought to be, beside what was measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// Of one subject and the first of its group: if the time goes where the counter counts, then
// speed-up = counter of the first / counter of this one.
struct Prediction {
  int first = 0, subject = 0;
  std::string counter{};                         // empty: nothing is predicted, only measured
  std::string metric{};                          // "latency_mean"
  std::optional<double> first_count{}, count{};  // means over processes
  std::optional<double> predicted{};             // nullopt: a count is missing or not positive
  std::optional<double> measured{};              // how many times as good; by pairs, where the run is a comparison
  std::optional<Interval> interval{};
  std::string why{};  // there is no measured value, or no interval
};

// Of every subject that is compared with another, in the plan's order. `metric`: one that has a value per process.
[[nodiscard]] std::vector<Prediction> predict(const RunRecord& run, const Verdict& verdict, std::string_view counter,
                                              std::string_view metric);

// Where the prediction lies: none where either is missing.
enum class PredictionFit { as_predicted, less_than_predicted, more_than_predicted };
[[nodiscard]] std::optional<PredictionFit> fit_of(const Prediction& prediction);
[[nodiscard]] std::string_view to_string(PredictionFit fit);  // "as predicted"

}  // namespace infermeter
