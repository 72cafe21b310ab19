#include "infermeter/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "infermeter/report/report.hpp"

namespace infermeter {
namespace {

struct Range {
  char32_t first, last;
};

bool is_in(char32_t code, std::span<const Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

// Unicode 15: general category Cc, the bidi controls, the separators of lines and paragraphs, and format characters
// that have no shape of their own.
constexpr std::array steering = {
    Range{0x00, 0x1f},     Range{0x7f, 0x9f},     Range{0xad, 0xad},     Range{0x61c, 0x61c},
    Range{0x180e, 0x180e}, Range{0x200b, 0x200f}, Range{0x2028, 0x202e}, Range{0x2060, 0x206f},
    Range{0xfeff, 0xfeff}, Range{0xfff9, 0xfffb}, Range{0xfffe, 0xffff}, Range{0xe0000, 0xe0fff},
};

// The common blocks of combining marks (Mn, Me) and the variation selectors.
constexpr std::array combining = {
    Range{0x300, 0x36f},   Range{0x483, 0x489},   Range{0x591, 0x5bd},   Range{0x610, 0x61a},   Range{0x64b, 0x65f},
    Range{0x6d6, 0x6dc},   Range{0x6df, 0x6e4},   Range{0x93c, 0x93c},   Range{0x941, 0x948},   Range{0x94d, 0x94d},
    Range{0xe31, 0xe31},   Range{0xe34, 0xe3a},   Range{0xe47, 0xe4e},   Range{0x1ab0, 0x1aff}, Range{0x1dc0, 0x1dff},
    Range{0x20d0, 0x20ff}, Range{0x302a, 0x302d}, Range{0x3099, 0x309a}, Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f},
};

// East Asian Width W and F (UAX #11), whole blocks.
constexpr std::array wide = {
    Range{0x1100, 0x115f},   Range{0x231a, 0x231b},   Range{0x23e9, 0x23ec},   Range{0x2614, 0x2615},
    Range{0x26a1, 0x26a1},   Range{0x2705, 0x2705},   Range{0x274c, 0x274c},   Range{0x2e80, 0x303e},
    Range{0x3041, 0x33ff},   Range{0x3400, 0x4dbf},   Range{0x4e00, 0x9fff},   Range{0xa000, 0xa4cf},
    Range{0xa960, 0xa97f},   Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},
    Range{0xff01, 0xff60},   Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1f6ff},
    Range{0x1f900, 0x1f9ff}, Range{0x1fa70, 0x1faff}, Range{0x20000, 0x3fffd},
};

std::size_t character_width(const Character& character) {
  if (!character.valid) return 1;
  if (is_in(character.code, combining)) return 0;
  return is_in(character.code, wide) ? 2 : 1;
}

// Length of the sequence that a lead byte begins; 0: no lead byte.
std::size_t sequence_size(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

std::string shown(const Character& character, std::string_view bytes) {
  if (!character.valid || character.code < 0x80) {
    if (character.valid && !steers_display(character.code)) return std::string(bytes);
    return fmt::format("\\x{:02x}", static_cast<std::uint32_t>(character.code));
  }
  if (steers_display(character.code)) return fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(character.code));
  return std::string(bytes);
}

}  // namespace

Character next_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Character invalid{.code = byte(0), .size = 1, .valid = false};
  const std::size_t size = sequence_size(byte(0));
  if (size == 1) return {.code = byte(0), .size = 1, .valid = true};
  if (size == 0 || size > text.size()) return invalid;
  char32_t code = byte(0) & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return invalid;
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool no_character = (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff;
  if (overlong || no_character) return invalid;
  return {.code = code, .size = size, .valid = true};
}

bool steers_display(char32_t code) {
  const bool plain = code >= 0x20 && code < 0x7f;  // nearly all there is
  return !plain && is_in(code, steering);
}

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

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    width += character_width(character);
    text.remove_prefix(character.size);
  }
  return width;
}

std::string fitted(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string result;
  std::size_t used = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    if (used + character_width(character) + 1 > width) break;
    used += character_width(character);
    result += text.substr(0, character.size);
    text.remove_prefix(character.size);
  }
  return result + "…";
}

std::string padded(std::string_view text, std::size_t width, Align align) {
  const std::size_t taken = display_width(text);
  const std::string space(width > taken ? width - taken : 0, ' ');
  return align == Align::left ? std::string(text) + space : space + std::string(text);
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t word_width = display_width(word);
    if (!line_is_empty && column + 1 + word_width > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
      line_is_empty = true;
    }
    if (!line_is_empty) result += ' ';
    column += word_width + (line_is_empty ? 0 : 1);
    result += word;
    line_is_empty = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace infermeter
