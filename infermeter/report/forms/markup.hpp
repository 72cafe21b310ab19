// Text within HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace infermeter {

// Between tags and within attributes of either kind of quotes it stands for itself. Control characters stay.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace infermeter
