// What a reader of a comparison must know: from its pilots, its pairs, its leak trials.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/stats/changes/leak.hpp"
#include "infermeter/verdict/comparison.hpp"

namespace infermeter {

// Of the pilots of one subject: failed, no steady state.
[[nodiscard]] std::vector<Diagnostic> side_trial_diagnostics(const RunRecord& record, int subject);
[[nodiscard]] std::vector<Diagnostic> leak_diagnostics(const std::optional<LeakEstimate>& leak,
                                                       const std::string& label);
[[nodiscard]] std::vector<Diagnostic> comparison_diagnostics(const RunRecord& record, const ComparisonVerdict& verdict);

}  // namespace infermeter
