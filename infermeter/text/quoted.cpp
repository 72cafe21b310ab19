#include "infermeter/text/quoted.hpp"

#include <fmt/format.h>

#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

std::string shown(const Character& character, std::string_view bytes) {
  if (character.valid && !steers_display(character.code)) return std::string(bytes);
  const auto code = static_cast<std::uint32_t>(character.code);
  return !character.valid || code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{{{:x}}}", code);
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  while (!text.empty()) {
    const Character character = next_character(text);
    const std::string piece = shown(character, text.substr(0, character.size));
    if (result.size() + piece.size() > limit) return result + "…";
    result += piece;
    text.remove_prefix(character.size);
  }
  return result;
}

std::string in_quotes(std::string_view name) { return "'" + printable(name, 200) + "'"; }

}  // namespace infermeter
