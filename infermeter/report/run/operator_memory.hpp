// Operators by the memory that a runtime says they need.
#pragma once

#include <cstddef>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/samples/operator_profile.hpp"

namespace infermeter {

// Those of whom the runtime reports, by inputs, parameters and outputs together, the largest first, at most `most` of
// them. No rows: it reports none.
[[nodiscard]] Grid memory_grid(const OperatorProfile& profile, std::size_t most, std::size_t longest_name);

}  // namespace infermeter
