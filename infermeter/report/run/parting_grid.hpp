// Where answers part, as text: the same in the reports of runs and of validations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "infermeter/fidelity/output_difference.hpp"
#include "infermeter/report/forms/grid.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// The first three partings of each subject whose texts are known. No rows where there is none.
[[nodiscard]] Grid parting_grid(const RunRecord& record);
// Of one comparison, whose answers `name` names by their items.
[[nodiscard]] Grid parting_grid(const std::vector<OutputDifference>& outputs,
                                const std::function<std::string(std::size_t)>& name);

}  // namespace infermeter
