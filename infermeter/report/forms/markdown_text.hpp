// Text in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace infermeter {

// Text that stays text: neither markup nor HTML, nor the mention of a person ("resnet50@openvino") or of an issue.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace infermeter
