// Small files of /proc and /sys, read in one go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace infermeter {

// At most 64 KiB; empty where it cannot be read.
[[nodiscard]] std::string read_proc_file(const char* path);
[[nodiscard]] inline std::string read_proc_file(const std::string& path) { return read_proc_file(path.c_str()); }

// The number that follows `key` and blanks at the beginning of a line or after another field.
[[nodiscard]] std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key);

}  // namespace infermeter
