// Runs that were not measured but imported: profiles that other tools wrote (infermeter/importing/profiles.hpp).
#pragma once

#include <string_view>

#include "infermeter/plan/plan.hpp"

namespace infermeter {

// What stands as the back end of a subject whose profiles were imported.
inline constexpr std::string_view kImportedBackend = "imported";

// Then there is no timed trial and none is to come, and neither the machine nor the settings are known.
[[nodiscard]] bool is_imported(const Plan& plan);

}  // namespace infermeter
