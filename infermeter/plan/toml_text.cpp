#include "infermeter/plan/toml_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

namespace infermeter {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;

}  // namespace

Result<toml::table> parse_toml(std::string_view text, std::string_view name, std::string_view what) {
  if (text.size() > kLargestFile) {
    return usage_error(
        fmt::format("{}: {} bytes are more than the {} that {} may have", name, text.size(), kLargestFile, what));
  }
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {  // Debian's library is the one with exceptions
    return error_at(name, error.source().begin, error.description());
  }
}

Error error_at(std::string_view file, const toml::source_position& where, std::string_view message) {
  std::string line = fmt::format("{}:{}:{}: {}", file, where.line, where.column, message);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return usage_error(std::move(line));
}

std::string_view name_of(toml::node_type type) {
  switch (type) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "a whole number";
    case toml::node_type::floating_point: return "a fraction";
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time: return "a date or time";
    case toml::node_type::none: break;
  }
  return "nothing";
}

}  // namespace infermeter
