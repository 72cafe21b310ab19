// The command line as a shell would take it again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

[[nodiscard]] std::string shell_quoted(std::string_view argument);
[[nodiscard]] std::string shell_quoted(const std::vector<std::string>& arguments);

}  // namespace infermeter
