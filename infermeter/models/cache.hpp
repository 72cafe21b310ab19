// Where files are kept that are made once.
#pragma once

#include <filesystem>

namespace infermeter {

// $INFERMETER_CACHE, else $XDG_CACHE_HOME/infermeter, else ~/.cache/infermeter, else a folder under the temporary one.
[[nodiscard]] std::filesystem::path default_cache();

}  // namespace infermeter
