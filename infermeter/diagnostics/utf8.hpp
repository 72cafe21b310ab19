// Bytes from outside as text.
#pragma once

#include <string>
#include <string_view>

namespace infermeter {

// Every byte that is not part of a well-formed sequence (Unicode 15, table 3-7) becomes U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

}  // namespace infermeter
