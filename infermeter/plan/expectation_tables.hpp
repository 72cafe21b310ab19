// `expect` and `[[expectation]]`: what gate files and studies say alike.
#pragma once

#include <toml++/toml.h>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/expectation_draft.hpp"

namespace infermeter {

// Text and name of a file, which must outlive the reader.
class ExpectationReader {
 public:
  ExpectationReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  [[nodiscard]] static bool is_key(std::string_view key) { return key == "expect" || key == "expectation"; }
  // `key` is one of the two.
  [[nodiscard]] Result<Done> read(const toml::key& key, const toml::node& node,
                                  std::vector<ExpectationDraft>& expectations) const;
  // `node` is a string.
  [[nodiscard]] PlacedText placed(const toml::node& node) const;

 private:
  [[nodiscard]] Result<Done> read_sentence(const toml::node& node, std::vector<ExpectationDraft>& expectations) const;
  [[nodiscard]] Result<Done> read_table(const toml::table& table, std::vector<ExpectationDraft>& expectations) const;

  std::string_view text_, name_;
};

// "gate.toml:3:1: 'run' wants a string, got a whole number"
[[nodiscard]] Error wrong_type(std::string_view file, std::string_view key, std::string_view wanted,
                               const toml::node& node);
// "gate.toml:3:1: unknown key 'expct' (did you mean 'expect'?)"
[[nodiscard]] Error unknown_key(std::string_view file, const toml::key& key, const std::vector<std::string>& known);

}  // namespace infermeter
