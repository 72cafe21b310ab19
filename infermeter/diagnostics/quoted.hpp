// Names from files, made fit for a sentence.
#pragma once

#include <string>
#include <string_view>

namespace infermeter {

// 'name', with control bytes as \xNN and what is longer than 200 bytes cut short.
[[nodiscard]] std::string in_quotes(std::string_view name);

}  // namespace infermeter
