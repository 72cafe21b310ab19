// The question that a plan asks: which metric decides, and how pairs are looked at.
#pragma once

#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/stats/comparison/design_power.hpp"

namespace infermeter {

// How its pairs are looked at. The plan asks a question.
[[nodiscard]] Design design_of(const Plan& plan);

// --metric's words: p50, p90, p99, mean, throughput, peak_memory, load_time; the metrics' own names as well.
[[nodiscard]] Result<std::string> metric_from_string(std::string_view name);

// An error where the metric is a figure of a load, and a subject of the plan has none, or none that gives it.
[[nodiscard]] Result<Done> check_has_metric(std::string_view metric, const Plan& plan);

// metric_from_string for pairs of processes of the plan: an error too where a process has no value of it, as its
// subject has no such load or its iterations are too few. Pairs are judged by what each process says alone.
[[nodiscard]] Result<std::string> metric_of_pairs(std::string_view name, const Plan& plan);

// The same of the plan's question.
[[nodiscard]] Result<std::string> metric_of_question(const Plan& plan);

}  // namespace infermeter
