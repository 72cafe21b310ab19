// What a race is asked: its objective and its constraints, as they are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/verdict/gate/expectation.hpp"

namespace infermeter {

// The plan's constraints: bounds of one setting's own figures ("latency_p99 <= 50ms", "peak_memory < 1GB",
// "accuracy_drop <= 0.01"). An error names the constraint.
[[nodiscard]] Result<std::vector<Expectation>> bounds_of(const Tuning& tuning);

// A metric's own name: the words of --metric, and model_size. It must have a value per process.
[[nodiscard]] Result<std::string> objective_from_string(std::string_view name);

// Can a process of the plan give a value of its objective and of its constraints? An error where it has too few
// iterations, no load or no labels for them.
[[nodiscard]] Result<Done> check_objective(const Plan& plan);

// Is it a figure of times and memory, which more processes tell better? Others (sizes, outputs, accuracy) are known
// from the first process.
[[nodiscard]] bool is_measured(const Expectation& bound);

// Must the outputs be those of the default? Not where accuracy, or how far outputs may be apart, is bounded.
[[nodiscard]] bool judges_outputs(const std::vector<Expectation>& bounds);
// Does the plan race settings whose outputs may differ, within its constraints?
[[nodiscard]] bool outputs_may_differ(const Plan& plan);

}  // namespace infermeter
