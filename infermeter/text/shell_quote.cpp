#include "infermeter/text/shell_quote.hpp"

#include <algorithm>

namespace infermeter {

std::string shell_quoted(std::string_view argument) {
  constexpr std::string_view kPlain = "@%+=:,./-_";
  const bool plain = !argument.empty() && std::ranges::all_of(argument, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != std::string_view::npos;
  });
  if (plain) return std::string(argument);
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_quoted(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + shell_quoted(argument);
  return text;
}

}  // namespace infermeter
