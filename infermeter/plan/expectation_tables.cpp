#include "infermeter/plan/expectation_tables.hpp"

#include <fmt/format.h>

#include <utility>

#include "infermeter/plan/toml_text.hpp"
#include "infermeter/text/nearest.hpp"

namespace infermeter {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// What stands in the file from there on; columns are counted in characters.
std::string_view text_at(std::string_view file, const toml::source_position& where) {
  for (toml::source_index line = 1; line < where.line; ++line) {
    const std::size_t end = file.find('\n');
    if (end == std::string_view::npos) return {};
    file.remove_prefix(end + 1);
  }
  for (toml::source_index column = 1; column < where.column && !file.empty(); ++column) {
    file.remove_prefix(1);
    while (!file.empty() && is_continuation(file.front())) file.remove_prefix(1);
  }
  return file;
}

}  // namespace

Error wrong_type(std::string_view file, std::string_view key, std::string_view wanted, const toml::node& node) {
  return error_at(file, node.source().begin, fmt::format("'{}' needs {}, got {}", key, wanted, name_of(node.type())));
}

Error unknown_key(std::string_view file, const toml::key& key, const std::vector<std::string>& known) {
  const auto near = nearest_name(key.str(), known);
  return error_at(
      file, key.source().begin,
      fmt::format("unknown key '{}'{}", key.str(), near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
}

Result<Done> ExpectationReader::read(const toml::key& key, const toml::node& node,
                                     std::vector<ExpectationDraft>& expectations) const {
  if (key.str() == "expect") {
    if (!node.is_array()) return read_sentence(node, expectations);
    for (const toml::node& element : *node.as_array()) INFERMETER_TRY_DONE(read_sentence(element, expectations));
    return Done{};
  }
  if (!node.is_array_of_tables()) {
    return error_at(name_, node.source().begin,
                    "'expectation' needs tables: write [[expectation]] before each one's keys");
  }
  for (const toml::node& element : *node.as_array()) {
    INFERMETER_TRY_DONE(read_table(*element.as_table(), expectations));
  }
  return Done{};
}

// Strings with escapes, or of many lines, are pointed at as a whole.
PlacedText ExpectationReader::placed(const toml::node& node) const {
  const auto& begin = node.source().begin;
  PlacedText placed{.text = **node.as_string(),
                    .file = std::string(name_),
                    .line = static_cast<std::int64_t>(begin.line),
                    .column = static_cast<std::int64_t>(begin.column)};
  const std::string_view quoted = text_at(text_, begin);
  placed.verbatim = !quoted.empty() && quoted.substr(1).starts_with(placed.text) &&
                    quoted.substr(1 + placed.text.size()).starts_with(quoted.front()) && !placed.text.empty();
  if (placed.verbatim) ++placed.column;
  return placed;
}

Result<Done> ExpectationReader::read_sentence(const toml::node& node,
                                              std::vector<ExpectationDraft>& expectations) const {
  if (!node.is_string()) return wrong_type(name_, "expect", "strings", node);
  expectations.push_back({.that = placed(node)});
  return Done{};
}

Result<Done> ExpectationReader::read_table(const toml::table& table,
                                           std::vector<ExpectationDraft>& expectations) const {
  ExpectationDraft expectation;
  for (const auto& [key, node] : table) {
    if (key.str() != "that" && key.str() != "subject") return unknown_key(name_, key, {"that", "subject"});
    if (!node.is_string()) return wrong_type(name_, key.str(), "a string", node);
    if (key.str() == "that") expectation.that = placed(node);
    if (key.str() == "subject") expectation.subject = placed(node);
  }
  if (!table.contains("that")) return error_at(name_, table.source().begin, "this [[expectation]] has no 'that'");
  expectations.push_back(std::move(expectation));
  return Done{};
}

}  // namespace infermeter
