// Sets of characters.
#pragma once

#include <algorithm>
#include <span>

namespace infermeter {

struct CodeRange {
  char32_t first, last;
};

[[nodiscard]] inline bool is_in(char32_t code, std::span<const CodeRange> ranges) {
  return std::ranges::any_of(ranges,
                             [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

}  // namespace infermeter
