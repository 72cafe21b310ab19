// Back ends as JSON, the same in `backends` and in `doctor`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "infermeter/worker/launcher.hpp"

namespace infermeter {

[[nodiscard]] nlohmann::ordered_json as_json(const BackendInfo& backend);
[[nodiscard]] nlohmann::ordered_json as_json(const std::vector<BackendInfo>& backends);

}  // namespace infermeter
