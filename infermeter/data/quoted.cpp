#include "infermeter/data/quoted.hpp"

#include <fmt/format.h>

namespace infermeter {

std::string in_quotes(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  std::string out = "'";
  for (const char character : name.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += character;
    }
  }
  return out + (name.size() > kLongest ? "…'" : "'");
}

}  // namespace infermeter
