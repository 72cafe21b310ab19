#include "infermeter/diagnostics/last_words.hpp"

#include <algorithm>
#include <cctype>

namespace infermeter {
namespace {

std::string_view without_blanks_at_end(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" \t\r\n");
  return line.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

bool says_something(std::string_view line) {
  const auto is_said = [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; };
  return !line.starts_with(' ') && !line.starts_with('\t') && std::ranges::any_of(line, is_said);
}

}  // namespace

std::string_view last_words(std::string_view text) {
  text = without_blanks_at_end(text);
  const std::string_view last = text.substr(text.rfind('\n') + 1);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t begin = rest.rfind('\n') + 1;
    const std::string_view line = without_blanks_at_end(rest.substr(begin));
    if (says_something(line)) return line;
    rest = rest.substr(0, begin == 0 ? 0 : begin - 1);
  }
  return last.substr(std::min(last.find_first_not_of(" \t"), last.size()));
}

}  // namespace infermeter
