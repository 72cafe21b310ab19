// Values with units, as the options of the test instrument are written: 1us, 2ms, 3s; 10kB, 4MiB; 1%.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace infermeter {

// All throw std::invalid_argument with what is wrong.
[[nodiscard]] double seconds_from(std::string_view text);       // ns, us, ms, s
[[nodiscard]] std::uint64_t bytes_from(std::string_view text);  // B (or nothing), kB, MB, GB, KiB, MiB, GiB
[[nodiscard]] double number_from(std::string_view text);        // finite

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, std::string_view separators);

}  // namespace infermeter
