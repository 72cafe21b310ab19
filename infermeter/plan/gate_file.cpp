#include "infermeter/plan/gate_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infermeter/diagnostics/nearest.hpp"
#include "infermeter/plan/toml_text.hpp"

namespace infermeter {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::int64_t characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return !is_continuation(c); });
}

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

class GateReader {
 public:
  GateReader(std::string_view text, std::string_view name, PlanDraft& draft)
      : text_(text), name_(name), draft_(draft) {}

  Result<GateFile> read(const toml::table& root) {
    for (const auto& [key, node] : root) INFERMETER_TRY_DONE(read_key(key, node));
    if (const toml::node* run = root.get("run"); run != nullptr && gate_.is_fresh()) {
      return error_at(name_, run->source().begin, "'run' (a stored one) and 'plan' (a fresh one) exclude each other");
    }
    if (gate_.expectations.empty()) {
      return usage_error(fmt::format(
          "{}: it expects nothing: write expect = [\"latency_p50_ms <= 12\", …] or [[expectation]] tables", name_));
    }
    return std::move(gate_);
  }

 private:
  Result<Done> read_key(const toml::key& key, const toml::node& node) {
    if (key.str() == "plan") return read_plan(node);
    if (key.str() == "expect") return read_expect(node);
    if (key.str() == "expectation") return read_tables(node);
    if (key.str() == "run") return read_text(key, node, gate_.run);
    if (key.str() == "baseline") return read_text(key, node, gate_.baseline);
    if (key.str() == "fail_inconclusive") return read_truth(key, node);
    return unknown(key, {"plan", "run", "baseline", "expect", "expectation", "fail_inconclusive"});
  }

  Result<Done> read_plan(const toml::node& node) {
    if (node.is_string()) return read_text(toml::key("plan"), node, gate_.plan_file);
    if (!node.is_table()) return wants("plan", "a file's name or a table", node);
    gate_.has_plan = true;
    return apply_toml_table(draft_, *node.as_table(), name_, TomlKind::plan);
  }

  Result<Done> read_text(const toml::key& key, const toml::node& node, std::optional<std::string>& field) const {
    if (!node.is_string()) return wants(key.str(), "a string", node);
    field = **node.as_string();
    if (field->empty()) return error_at(name_, node.source().begin, fmt::format("'{}' is empty", key.str()));
    return Done{};
  }

  Result<Done> read_truth(const toml::key& key, const toml::node& node) {
    if (!node.is_boolean()) return wants(key.str(), "true or false", node);
    gate_.fail_inconclusive = **node.as_boolean();
    return Done{};
  }

  Result<Done> read_expect(const toml::node& node) {
    if (!node.is_array()) return add_expectation(node);
    for (const toml::node& element : *node.as_array()) INFERMETER_TRY_DONE(add_expectation(element));
    return Done{};
  }

  Result<Done> add_expectation(const toml::node& node) {
    if (!node.is_string()) return wants("expect", "strings", node);
    gate_.expectations.push_back({.that = placed(node)});
    return Done{};
  }

  Result<Done> read_tables(const toml::node& node) {
    if (!node.is_array_of_tables()) {
      return error_at(name_, node.source().begin,
                      "'expectation' wants tables: write [[expectation]] before each one's keys");
    }
    for (const toml::node& element : *node.as_array()) INFERMETER_TRY_DONE(read_table(*element.as_table()));
    return Done{};
  }

  Result<Done> read_table(const toml::table& table) {
    ExpectationDraft expectation;
    for (const auto& [key, node] : table) {
      if (key.str() != "that" && key.str() != "subject") return unknown(key, {"that", "subject"});
      if (!node.is_string()) return wants(key.str(), "a string", node);
      if (key.str() == "that") expectation.that = placed(node);
      if (key.str() == "subject") expectation.subject = placed(node);
    }
    if (!table.contains("that")) {
      return error_at(name_, table.source().begin, "this [[expectation]] has no 'that'");
    }
    gate_.expectations.push_back(std::move(expectation));
    return Done{};
  }

  // Strings with escapes, or of many lines, are pointed at as a whole.
  [[nodiscard]] PlacedText placed(const toml::node& node) const {
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

  [[nodiscard]] Error wants(std::string_view key, std::string_view what, const toml::node& node) const {
    return error_at(name_, node.source().begin, fmt::format("'{}' wants {}, got {}", key, what, name_of(node.type())));
  }

  [[nodiscard]] Error unknown(const toml::key& key, const std::vector<std::string>& known) const {
    const auto near = nearest_name(key.str(), known);
    return error_at(
        name_, key.source().begin,
        fmt::format("unknown key '{}'{}", key.str(), near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
  }

  std::string_view text_, name_;
  PlanDraft& draft_;
  GateFile gate_;
};

}  // namespace

Error PlacedText::error(std::size_t offset, std::string_view message) const {
  const std::int64_t at = column + (verbatim ? characters(std::string_view(text).substr(0, offset)) : 0);
  return error_at(file, {static_cast<toml::source_index>(line), static_cast<toml::source_index>(at)}, message);
}

Result<GateFile> gate_file_from_toml(std::string_view text, std::string_view name, PlanDraft& draft) {
  INFERMETER_TRY(const toml::table root, parse_toml(text, name, "a gate file"));
  return GateReader(text, name, draft).read(root);
}

}  // namespace infermeter
