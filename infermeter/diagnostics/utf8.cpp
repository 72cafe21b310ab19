#include "infermeter/diagnostics/utf8.hpp"

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

}  // namespace

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
