#include "infermeter/plan/gate_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infermeter/plan/expectation_tables.hpp"
#include "infermeter/plan/toml_text.hpp"

namespace infermeter {
namespace {

class GateReader {
 public:
  GateReader(std::string_view text, std::string_view name, PlanDraft& draft)
      : name_(name), expectations_(text, name), draft_(draft) {}

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
    if (ExpectationReader::is_key(key.str())) return expectations_.read(key, node, gate_.expectations);
    if (key.str() == "plan") return read_plan(node);
    if (key.str() == "run") return read_text(key, node, gate_.run);
    if (key.str() == "baseline") return read_text(key, node, gate_.baseline);
    if (key.str() == "fail_inconclusive") return read_truth(key, node);
    return unknown_key(name_, key, {"plan", "run", "baseline", "expect", "expectation", "fail_inconclusive"});
  }

  Result<Done> read_plan(const toml::node& node) {
    if (node.is_string()) return read_text(toml::key("plan"), node, gate_.plan_file);
    if (!node.is_table()) return wrong_type(name_, "plan", "a file's name or a table", node);
    gate_.has_plan = true;
    return apply_toml_table(draft_, *node.as_table(), name_, TomlKind::plan);
  }

  Result<Done> read_text(const toml::key& key, const toml::node& node, std::optional<std::string>& field) const {
    if (!node.is_string()) return wrong_type(name_, key.str(), "a string", node);
    field = **node.as_string();
    if (field->empty()) return error_at(name_, node.source().begin, fmt::format("'{}' is empty", key.str()));
    return Done{};
  }

  Result<Done> read_truth(const toml::key& key, const toml::node& node) {
    if (!node.is_boolean()) return wrong_type(name_, key.str(), "true or false", node);
    gate_.fail_inconclusive = **node.as_boolean();
    return Done{};
  }

  std::string_view name_;
  ExpectationReader expectations_;
  PlanDraft& draft_;
  GateFile gate_;
};

}  // namespace

Result<GateFile> gate_file_from_toml(std::string_view text, std::string_view name, PlanDraft& draft) {
  INFERMETER_TRY(const toml::table root, parse_toml(text, name, "a gate file"));
  return GateReader(text, name, draft).read(root);
}

}  // namespace infermeter
