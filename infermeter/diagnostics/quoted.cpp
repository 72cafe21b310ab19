#include "infermeter/diagnostics/quoted.hpp"

#include <fmt/format.h>

#include "infermeter/diagnostics/utf8.hpp"

namespace infermeter {

std::string in_quotes(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  std::string out = "'";
  for (std::string_view rest = name.substr(0, kLongest); !rest.empty();) {
    const Character character = next_character(rest);
    if (!character.valid || (character.size == 1 && steers_display(character.code))) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(character.code));
    } else if (steers_display(character.code)) {
      out += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(character.code));
    } else {
      out += rest.substr(0, character.size);
    }
    rest.remove_prefix(character.size);
  }
  return out + (name.size() > kLongest ? "…'" : "'");
}

}  // namespace infermeter
