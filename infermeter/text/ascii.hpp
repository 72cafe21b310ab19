// Of ASCII alone, whatever the locale: words of files and formats.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace infermeter {

// Without blanks, tabs and ends of lines at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

[[nodiscard]] constexpr char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

[[nodiscard]] inline std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return lowered(c); });
  return text;
}

}  // namespace infermeter
