// Which run is meant: an id, a unique beginning of one, "latest", or "previous", the one before it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// `ids`: all runs of the store, the oldest first. `store`, its name, is for the message.
[[nodiscard]] Result<std::string> find_run(std::string_view name, const std::vector<std::string>& ids,
                                           std::string_view store);

}  // namespace infermeter
