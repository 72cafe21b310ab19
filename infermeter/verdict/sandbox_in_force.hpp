// The sandbox level that workers ran under: the level asked for, less what the kernel did not do.
#pragma once

#include <span>
#include <string>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// "strict", "auto without Landlock", "off", …; `diagnostics`: of the workers.
[[nodiscard]] std::string sandbox_in_force(Sandbox asked, std::span<const Diagnostic> diagnostics);

}  // namespace infermeter
