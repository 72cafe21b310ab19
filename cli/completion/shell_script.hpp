// What a shell is told so that it asks `infermeter complete` for what may come next.
#pragma once

#include <optional>
#include <string_view>

namespace infermeter {

// Of "bash", "zsh" or "fish".
[[nodiscard]] std::optional<std::string_view> completion_script(std::string_view shell);

}  // namespace infermeter
