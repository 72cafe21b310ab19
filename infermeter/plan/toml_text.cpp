#include "infermeter/plan/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;

// toml++ makes a table for each part of a dotted key and destroys tables by recursion; it limits brackets alone.
constexpr int kMostKeyParts = 32;
constexpr int kMostBrackets = 32;

// What is inside of a string or a comment says nothing of depth. Returns the position behind it.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const std::string_view quotes = text.substr(at, 3);
  const bool is_long = quotes == "\"\"\"" || quotes == "'''";
  const std::string_view end = text.substr(at, is_long ? 3 : 1);
  for (std::size_t i = at + end.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && end[0] == '"') {
      ++i;
    } else if (text.substr(i).starts_with(end)) {
      return i + end.size();
    } else if (text[i] == '\n' && !is_long) {
      return i;
    }
  }
  return text.size();
}

// The first position outside of strings and comments, their first characters included, of which `found` says so; npos:
// none.
template <class Found>
std::size_t find_outside(std::string_view text, Found found) {
  for (std::size_t i = 0; i < text.size();) {
    if (found(i)) return i;
    if (text[i] == '"' || text[i] == '\'') {
      i = end_of_string(text, i);
    } else if (text[i] == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else {
      ++i;
    }
  }
  return std::string_view::npos;
}

// The first position at which keys or brackets are nested too deeply.
std::size_t too_deep(std::string_view text) {
  int dots = 0;  // one after the other, with nothing but words, strings and spaces between them
  int brackets = 0;
  return find_outside(text, [&](std::size_t i) {
    const char c = text[i];
    if (c == '.') ++dots;
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') --brackets;
    return dots >= kMostKeyParts || brackets > kMostBrackets;
  });
}

bool begins_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-\"'").find(c) != std::string_view::npos;
}

// The first "[" at a line's beginning that no name follows, where toml++ 3.3 has undefined behaviour. Within an array
// that goes over lines there is no harm in "[", so that what may be one is left to toml++.
std::size_t nameless_header(std::string_view text) {
  int brackets = 0;
  bool at_beginning = true;
  return find_outside(text, [&](std::size_t i) {
    const char c = text[i];
    if (c == '[' && brackets == 0 && at_beginning) {
      const std::size_t name = text.find_first_not_of(" \t", i + (text.substr(i).starts_with("[[") ? 2 : 1));
      if (name == std::string_view::npos || (!begins_key(text[name]) && text[name] != ']')) return true;
    }
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') --brackets;
    at_beginning = c == '\n' || (at_beginning && (c == ' ' || c == '\t' || c == '\r'));
    return false;
  });
}

// The first byte that is not ASCII and stands in no string, nor in a comment: TOML has none there, and toml++ 3.3 has
// undefined behaviour at some of them.
std::size_t not_ascii(std::string_view text) {
  return find_outside(text, [&](std::size_t i) { return static_cast<unsigned char>(text[i]) >= 0x80; });
}

std::size_t invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Character next = next_character(text.substr(i));
    if (!next.valid) return i;
    i += next.size;
  }
  return std::string_view::npos;
}

toml::source_position position_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {.line = static_cast<toml::source_index>(line + 1), .column = static_cast<toml::source_index>(at - begin + 1)};
}

}  // namespace

Result<toml::table> parse_toml(std::string_view text, std::string_view name, std::string_view what) {
  if (text.size() > kLargestFile) {
    return usage_error(
        fmt::format("{}: {} bytes are more than the {} that {} may have", name, text.size(), kLargestFile, what));
  }
  if (const std::size_t at = too_deep(text); at != std::string_view::npos) {
    return error_at(name, position_of(text, at),
                    fmt::format("nested too deeply: a key may have {} parts, and brackets may stand in {} others",
                                kMostKeyParts, kMostBrackets - 1));
  }
  if (const std::size_t at = invalid_utf8(text); at != std::string_view::npos)
    return error_at(name, position_of(text, at), "the text is not UTF-8");
  if (const std::size_t at = not_ascii(text); at != std::string_view::npos) {
    return error_at(name, position_of(text, at), "letters beyond ASCII stand in quotes, in names as in values");
  }
  if (const std::size_t at = nameless_header(text); at != std::string_view::npos) {
    return error_at(name, position_of(text, at), "a table's name is missing behind '['");
  }
  if (text.empty()) return toml::table();  // toml++ would look at the address of nothing
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
