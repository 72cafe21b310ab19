#include "infermeter/report/forms/markdown_text.hpp"

namespace infermeter {

std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '@': result += "&#64;"; break;
      case '#': result += "&#35;"; break;
      case '\\':
      case '`':
      case '*':
      case '[':
      case ']':
      case '|':
      case '~': result += '\\'; [[fallthrough]];
      default: result += c;
    }
  }
  return result;
}

}  // namespace infermeter
