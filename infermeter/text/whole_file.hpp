// A file as one string.
#pragma once

#include <filesystem>
#include <string>

namespace infermeter {

// The bytes of a file that surely fits into memory: one of our own, or one that another process of ours wrote. None if
// it cannot be read.
[[nodiscard]] std::string whole_file(const std::filesystem::path& file);

}  // namespace infermeter
