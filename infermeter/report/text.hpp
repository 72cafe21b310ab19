// Text on a terminal: what may be shown, how wide it is, where lines break.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

// The next character of UTF-8 text. Invalid bytes (overlong forms, surrogates, cut sequences) come one by one.
struct Character {
  char32_t code = 0;
  std::size_t size = 0;  // bytes
  bool valid = false;    // false: `code` is the byte
};
[[nodiscard]] Character next_character(std::string_view text);

// Characters that steer a terminal or an editor instead of standing for themselves: controls, bidi marks and overrides,
// line separators, invisible joiners and tags.
[[nodiscard]] bool steers_display(char32_t code);

// Columns that text takes: 0 for combining marks, 2 for East Asian wide characters and emoji.
[[nodiscard]] std::size_t display_width(std::string_view text);

// Cut to `width` columns, the last of them "…" where something was cut.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

enum class Align { left, right };
[[nodiscard]] std::string padded(std::string_view text, std::size_t width, Align align);

// Broken at spaces into lines of at most `width` columns, the second and later ones indented. A word that is too long
// stands on a line of its own.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace infermeter
