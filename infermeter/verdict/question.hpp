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

// The same of a plan's question, as the metric's own name. An error too where the plan's iterations are too few for a
// process to have a value: pairs are judged by what each process says alone.
[[nodiscard]] Result<std::string> metric_of_question(const Plan& plan);

}  // namespace infermeter
