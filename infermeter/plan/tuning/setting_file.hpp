// One subject of a plan as a plan file of its own.
#pragma once

#include <cstddef>
#include <string>

#include "infermeter/plan/plan.hpp"

namespace infermeter {

// For `infermeter run --plan`: the subject on the plan's data and processors, and nothing else, so that it is measured
// as any other. Variables that a file may not set are left out, and a comment names them.
[[nodiscard]] std::string setting_file(const Plan& plan, std::size_t subject);

}  // namespace infermeter
