#include "infermeter/data/arrays/npy_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

bool is_character(char32_t code) { return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF); }

void append_utf8(char32_t code, std::string& out) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
    return;
  }
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xE0 | (code >> 12));
    } else {
      put(0xF0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3F));
    }
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// Takes one character off the front; nothing if it is not valid there.
std::optional<char32_t> take_utf8(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return std::nullopt;
  char32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80u) return std::nullopt;
    code = (code << 6) | (byte & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || !is_character(code)) return std::nullopt;
  text.remove_prefix(length);
  return code;
}

Result<std::u32string> characters_of(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const auto code = take_utf8(text);
    if (!code) return usage_error("a string that is not valid UTF-8 cannot be written as .npy");
    out += *code;
  }
  if (!out.empty() && out.back() == 0) return usage_error("a string that ends in NUL cannot be written as .npy");
  return out;
}

}  // namespace

Result<std::string> utf8_from_utf32(std::span<const std::byte> element, const std::string& file) {
  std::u32string codes(element.size() / 4, U'\0');
  if (!codes.empty()) std::memcpy(codes.data(), element.data(), codes.size() * 4);
  while (!codes.empty() && codes.back() == 0) codes.pop_back();
  std::string out;
  for (const char32_t code : codes) {
    if (!is_character(code)) return io_error(fmt::format("{} has a string that is not Unicode", in_quotes(file)));
    append_utf8(code, out);
  }
  return out;
}

Result<std::u32string> utf32_from_utf8(std::span<const std::string> texts, std::size_t& width) {
  std::vector<std::u32string> decoded;
  width = 1;
  for (const std::string& text : texts) {
    INFERMETER_TRY(std::u32string codes, characters_of(text));
    width = std::max(width, codes.size());
    decoded.push_back(std::move(codes));
  }
  std::u32string out;
  for (std::u32string& codes : decoded) {
    codes.resize(width);
    out += codes;
  }
  return out;
}

}  // namespace infermeter
