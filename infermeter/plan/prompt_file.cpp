#include "infermeter/plan/prompt_file.hpp"

#include <algorithm>

namespace infermeter {

std::string_view prompt_file_of(const Subject& subject) {
  const auto found = std::ranges::find_if(subject.options, names_prompt_file);
  return found == subject.options.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace infermeter
