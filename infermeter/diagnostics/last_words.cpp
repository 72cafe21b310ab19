#include "infermeter/diagnostics/last_words.hpp"

#include <algorithm>
#include <cctype>

namespace infermeter {
namespace {

std::string_view without_blanks_at_end(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" \t\r\n");
  return line.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

// Of a terminal: ESC [ and what follows, to the first letter.
std::size_t size_of_sequence(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto* end = std::ranges::find_if(text.substr(2), [](char c) { return c >= 0x40 && c <= 0x7e; });
  return end == text.end() ? 0 : static_cast<std::size_t>(end - text.begin()) + 1;
}

std::string_view without_colours(std::string_view line) {
  for (std::size_t size = 0; (size = size_of_sequence(line)) > 0;) line.remove_prefix(size);
  for (std::size_t at = 0; (at = line.rfind("\x1b[")) != std::string_view::npos;) {
    if (size_of_sequence(line.substr(at)) != line.size() - at) break;
    line = line.substr(0, at);
  }
  return line;
}

bool says_something(std::string_view line) {
  const auto is_said = [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; };
  return !line.starts_with(' ') && !line.starts_with('\t') && std::ranges::any_of(line, is_said);
}

}  // namespace

std::string_view last_words(std::string_view text) {
  text = without_blanks_at_end(text);
  const std::string_view last = without_colours(text.substr(text.rfind('\n') + 1));
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t begin = rest.rfind('\n') + 1;
    const std::string_view line = without_blanks_at_end(without_colours(without_blanks_at_end(rest.substr(begin))));
    if (says_something(line)) return line;
    rest = rest.substr(0, begin == 0 ? 0 : begin - 1);
  }
  return last.substr(std::min(last.find_first_not_of(" \t"), last.size()));
}

}  // namespace infermeter
