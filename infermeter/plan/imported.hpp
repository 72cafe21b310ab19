// Runs that were not measured but imported: profiles and times that other tools wrote (infermeter/importing/).
#pragma once

#include <string_view>

#include "infermeter/plan/plan.hpp"

namespace infermeter {

// What stands as the back end of a subject that was imported.
inline constexpr std::string_view kImportedBackend = "imported";

// Then no trial is to come, and neither the machine nor the settings are known.
[[nodiscard]] bool is_imported(const Plan& plan);

}  // namespace infermeter
