// Which folders of recorded inputs and outputs a data source means: one, or all test_data_set_N in it.
#pragma once

#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

[[nodiscard]] Result<std::vector<std::string>> test_data_folders(const std::string& data);

}  // namespace infermeter
