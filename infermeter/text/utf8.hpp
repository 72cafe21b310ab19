// Bytes from outside as text, by the tables of utf8proc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace infermeter {

// Every byte that is not part of a well-formed sequence (the Unicode Standard, table 3-7) becomes U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

// The next character of UTF-8 text, which is not empty. Invalid bytes (overlong forms, surrogates, cut sequences) come
// one by one.
struct Character {
  char32_t code = 0;
  std::size_t size = 0;  // bytes
  bool valid = false;    // false: `code` is the byte
};
[[nodiscard]] Character next_character(std::string_view text);

// Characters that steer a terminal or an editor, or have no shape, instead of standing for themselves: controls, bidi
// marks and overrides, line separators, invisible joiners, fillers and tags; what the Unicode tables do not know.
[[nodiscard]] bool steers_display(char32_t code);

}  // namespace infermeter
