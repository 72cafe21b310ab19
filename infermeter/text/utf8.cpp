#include "infermeter/text/utf8.hpp"

#include <array>

#include "infermeter/text/code_ranges.hpp"

namespace infermeter {
namespace {

// Bytes of the well-formed sequence at the beginning, or 0.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
  const auto continues = [&](std::size_t i) { return (at(i) & 0xc0U) == 0x80U; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80U) return 1;
  if (first >= 0xc2U && first <= 0xdfU) return continues(1) ? 2 : 0;
  if ((first & 0xf0U) == 0xe0U) {
    const bool overlong = first == 0xe0U && second < 0xa0U, surrogate = first == 0xedU && second > 0x9fU;
    return !overlong && !surrogate && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0U && first <= 0xf4U) {
    const bool overlong = first == 0xf0U && second < 0x90U, too_high = first == 0xf4U && second > 0x8fU;
    return !overlong && !too_high && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

// Unicode 15: general category Cc, the bidi controls, the separators of lines and paragraphs, and format characters
// that have no shape of their own.
constexpr std::array steering = {
    CodeRange{0x00, 0x1f},     CodeRange{0x7f, 0x9f},     CodeRange{0xad, 0xad},     CodeRange{0x61c, 0x61c},
    CodeRange{0x180e, 0x180e}, CodeRange{0x200b, 0x200f}, CodeRange{0x2028, 0x202e}, CodeRange{0x2060, 0x206f},
    CodeRange{0xfeff, 0xfeff}, CodeRange{0xfff9, 0xfffb}, CodeRange{0xfffe, 0xffff}, CodeRange{0xe0000, 0xe0fff},
};

}  // namespace

Character next_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = sequence_length(text);
  if (size == 0) return {.code = byte(0), .size = 1, .valid = false};
  if (size == 1) return {.code = byte(0), .size = 1, .valid = true};
  char32_t code = byte(0) & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) code = (code << 6) | (byte(i) & 0x3fU);
  return {.code = code, .size = size, .valid = true};
}

bool steers_display(char32_t code) {
  const bool plain = code >= 0x20 && code < 0x7f;  // nearly all there is
  return !plain && is_in(code, steering);
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0)
      text += "\xef\xbf\xbd";
    else
      text += bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

}  // namespace infermeter
