#include "infermeter/report/forms/markup.hpp"

namespace infermeter {

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char character : text) {
    switch (character) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += character;
    }
  }
  return safe;
}

}  // namespace infermeter
