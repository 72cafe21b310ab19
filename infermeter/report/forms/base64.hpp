#pragma once

#include <string>
#include <string_view>

namespace infermeter {

// RFC 4648, section 4, padded and without line breaks: nothing of it can be markup.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace infermeter
