// Which shared library of a runtime is to be used, as far as that is said anywhere.
#pragma once

#include <string>

namespace infermeter {

// `asked` (--backend-library), else $INFERMETER_<BACKEND>_LIBRARY; empty: the plug-in searches.
[[nodiscard]] std::string chosen_library(const std::string& backend, const std::string& asked);

}  // namespace infermeter
