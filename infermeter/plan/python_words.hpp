// What a sentence advises, as a Python program says it: "raise --processes" -> "raise processes=".
#pragma once

#include <string>
#include <string_view>

namespace infermeter {

// Flags of settings become the arguments of that name, with the values that follow them (`--outliers none` ->
// `outliers="none"`); what objects of a program have no argument for is named as it is said there. Other text stays.
[[nodiscard]] std::string in_python_words(std::string_view text);

}  // namespace infermeter
