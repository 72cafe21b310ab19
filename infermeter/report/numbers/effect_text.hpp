// Differences in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/verdict/comparison.hpp"

namespace infermeter {

// "3.1 % faster", "2.52x slower", "3.1 % more peak memory": an effect on the log scale, positive: worse.
[[nodiscard]] std::string effect_text(std::string_view metric, double effect);
// "2.4 … 3.7 % faster", "0.4 % faster … 1.9 % slower".
[[nodiscard]] std::string effects_text(std::string_view metric, const Interval& interval);
// The same without its direction, for an interval on one side of 0: "2.4 … 3.7 %".
[[nodiscard]] std::string sizes_text(std::string_view metric, const Interval& interval);
// "0.8 %": the size of an effect without its direction.
[[nodiscard]] std::string size_text(double effect);

// The change of the metric's own value as a share of the baseline's: 0.03 for 3 % more; and in
// percent with its sign: "+3.00".
[[nodiscard]] double value_change(std::string_view metric, double effect);
[[nodiscard]] std::string signed_number(std::string_view metric, double effect);

// How a metric is talked about: "B <verb> 3 % <better> than A".
struct MetricWords {
  std::string_view metric, verb, better, worse;
};
[[nodiscard]] MetricWords words_of(std::string_view metric);
[[nodiscard]] std::string metric_name(std::string_view metric);  // "latency p50"

// While pairs come in; `labels` by subject: "B 3.1 % faster (2.4 … 3.7 % faster); next look after 16 pairs decides
// beyond 0.9 %".
[[nodiscard]] std::string comparison_progress(const std::vector<std::string>& labels, const ComparisonVerdict& verdict);

}  // namespace infermeter
