// The body of POST chat/completions and completions.
#pragma once

#include <string>
#include <string_view>

#include "settings.hpp"

namespace infermeter {

[[nodiscard]] std::string path_of(Api api);  // "/chat/completions"

// Greedy: temperature 0. Throws Failure(IMB_INVALID_ARGUMENT): `prompt` is no UTF-8, which JSON cannot carry.
[[nodiscard]] std::string completion_body(const Settings& settings, std::string_view model, std::string_view prompt,
                                          int output_tokens);

}  // namespace infermeter
