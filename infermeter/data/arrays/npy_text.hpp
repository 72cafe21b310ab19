// NumPy's fixed-width strings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// One element: UTF-32 in this machine's byte order, padded with zeros, as UTF-8.
[[nodiscard]] Result<std::string> utf8_from_utf32(std::span<const std::byte> element, const std::string& file);

// All elements as UTF-32 of equal width (at least 1); `width` gets it. An error for what is no UTF-8 or ends in NUL.
[[nodiscard]] Result<std::u32string> utf32_from_utf8(std::span<const std::string> texts, std::size_t& width);

}  // namespace infermeter
