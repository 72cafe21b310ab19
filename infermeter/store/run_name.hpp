// Which run is meant: an id, a unique beginning of one, "latest", or "previous", the one before it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// `newest`: the two runs that came last, the last one first. `matches`: those whose ids begin with `name`. `store`, its
// name, is for the message.
[[nodiscard]] Result<std::string> find_run(std::string_view name, const std::vector<std::string>& newest,
                                           std::vector<std::string> matches, std::string_view store);

}  // namespace infermeter
