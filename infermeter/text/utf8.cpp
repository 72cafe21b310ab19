#include "infermeter/text/utf8.hpp"

#include <utf8proc.h>

namespace infermeter {

Character next_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (size <= 0) return {.code = bytes[0], .size = 1, .valid = false};
  return {.code = static_cast<char32_t>(code), .size = static_cast<std::size_t>(size), .valid = true};
}

bool steers_display(char32_t code) {
  if (code >= 0x20 && code < 0x7f) return false;  // nearly all there is
  const utf8proc_property_t* const property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  switch (property->category) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return true;
    case UTF8PROC_CATEGORY_MN: return false;  // marks, and the selectors of emoji
    default: return property->ignorable;      // fillers of Hangul
  }
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Character character = next_character(bytes);
    text += character.valid ? bytes.substr(0, character.size) : "\xef\xbf\xbd";
    bytes.remove_prefix(character.size);
  }
  return text;
}

}  // namespace infermeter
