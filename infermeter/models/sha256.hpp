// SHA-256 of files and text.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Lower-case hex of SHA-256. `interrupt` as in RunContext: ends the reading.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& file,
                                                 const std::atomic<int>* interrupt = nullptr);
[[nodiscard]] std::string sha256_of_text(std::string_view text);

}  // namespace infermeter
