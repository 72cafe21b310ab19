// The option `prompts` of back ends of language models, where it names a file.
#pragma once

#include <string_view>

#include "infermeter/plan/plan.hpp"

namespace infermeter {

// Words of that option that are no files; a file of such a name is ./data.
inline constexpr std::string_view kPromptsOption = "prompts";
[[nodiscard]] inline bool names_prompt_file(const Pairs::value_type& option) {
  return option.first == kPromptsOption && option.second != "synthetic" && option.second != "data";
}

// Empty: there is none. The worker is let read it, and its digest is recorded.
[[nodiscard]] std::string_view prompt_file_of(const Subject& subject);

}  // namespace infermeter
