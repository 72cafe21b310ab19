// Checklists of gates, validations, layers and histories. Pure functions of records and verdicts.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/check.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/history.hpp"
#include "infermeter/verdict/layers_record.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

// One for each expectation, over all subjects that it was compared with.
[[nodiscard]] std::vector<Check> checklist(const RunRecord& record, const Gate& gate, const GateVerdict& verdict);

// Outputs, the drop of accuracy, and whether the baseline repeats itself.
[[nodiscard]] std::vector<Check> checklist(const Validation& validation);

// Whether all tensors have partners, and whether the two part anywhere.
[[nodiscard]] std::vector<Check> checklist(const LayersRecord& record);

// Whether there are runs enough to look for changes, and whether a series is worse than it was.
[[nodiscard]] std::vector<Check> checklist(const std::vector<const History*>& histories);

}  // namespace infermeter
