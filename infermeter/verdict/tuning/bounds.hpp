// What the settings of a race must keep to: the constraints of its plan, held against what was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/verdict/gate/finding.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// The plan's constraints: bounds of one setting's own figures ("latency_p99 <= 50ms", "peak_memory < 1GB",
// "accuracy_drop <= 0.01"). An error names the constraint.
[[nodiscard]] Result<std::vector<Expectation>> bounds_of(const Tuning& tuning);

// A metric's own name: the words of --metric, and model_size. It must have a value per process.
[[nodiscard]] Result<std::string> objective_from_string(std::string_view name);

// Can a process of the plan give a value of its objective? An error where it has too few iterations.
[[nodiscard]] Result<Done> check_objective(const Plan& plan);

// Is it a figure of times and memory, which more processes tell better? Others (sizes, outputs, accuracy) are known
// from the first process.
[[nodiscard]] bool is_measured(const Expectation& bound);

// How the subject keeps a measured bound, by these trials of it, with intervals that look at them after 5, 8, 12 and 20
// processes (stats/comparison/rounds.hpp).
[[nodiscard]] Finding finding_in(const Expectation& bound, std::span<const Samples> trials,
                                 const SummaryOptions& options, bool ended);

// Does the pilot, one process, miss a measured bound by more than its own interval and by more than a tenth? How
// processes differ is not known yet.
[[nodiscard]] bool is_missed_by_pilot(const Expectation& bound, const Samples& pilot, const SummaryOptions& options);

// Must the outputs be those of the default? Not where accuracy, or how far outputs may be apart, is bounded.
[[nodiscard]] bool judges_outputs(const std::vector<Expectation>& bounds);

}  // namespace infermeter
