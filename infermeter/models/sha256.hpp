// SHA-256 of files and text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Lower-case hex of SHA-256.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& file);
[[nodiscard]] std::string sha256_of_text(std::string_view text);

}  // namespace infermeter
