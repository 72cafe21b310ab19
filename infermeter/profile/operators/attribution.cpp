#include "infermeter/profile/operators/attribution.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "infermeter/profile/operators/moved_bytes.hpp"
#include "infermeter/profile/operators/node_edges.hpp"
#include "infermeter/profile/operators/operator_kinds.hpp"

namespace infermeter {
namespace {

constexpr std::size_t no_node = SIZE_MAX;
// Nodes that one fused operator may stand for where they are sought between its tensors.
constexpr std::size_t most_fused = 1000;
// That a runtime makes to a name.
constexpr std::size_t most_additions = 8;

bool is_heavy(const GraphNode& node) { return node.flops ? *node.flops > 0 : is_heavy_kind(node.kind); }

// An operator that only moves values executes no node that computes.
bool may_own(const ProfiledOperator& op, const GraphNode& node) {
  return !is_movement_kind(op.kind) || is_movement_kind(node.kind);
}

class Attribution {
 public:
  Attribution(std::vector<ProfiledOperator>& operators, const ModelGraph& model)
      : operators_(operators),
        model_(model),
        edges_(model),
        owner_(model.nodes.size(), no_node),
        rule_(model.nodes.size(), OriginRule::none) {}

  AttributionCheck run() {
    for (std::size_t op = 0; op < operators_.size(); ++op) claim_by_names(op);
    for (std::size_t op = 0; op < operators_.size(); ++op) claim_between_tensors(op);
    for (std::size_t node = 0; node < owner_.size(); ++node) {
      if (owner_[node] == no_node && is_heavy(model_.nodes[node])) give_forward(node);
    }
    for (std::size_t node = 0; node < owner_.size(); ++node) give_to_producer(node, true);
    for (std::size_t node = owner_.size(); node > 0; --node) give_to_consumer(node - 1);
    for (std::size_t node = 0; node < owner_.size(); ++node) give_to_producer(node, false);
    write_operators();
    for (std::size_t op = operators_.size(); op > 0; --op) share_with_consumer(op - 1);
    return check();
  }

 private:
  struct Found {
    std::size_t node = no_node;
    OriginRule rule = OriginRule::none;
  };

  [[nodiscard]] Found whole_name(std::string_view name) const {
    if (const auto node = edges_.node(name)) return {*node, OriginRule::exact};
    if (const auto node = edges_.producer(name)) return {*node, OriginRule::tensor};
    return {};
  }

  // A runtime's additions: "relu_nchwc", "node_MatMul_11/MatMulAddFusion".
  [[nodiscard]] Found find(std::string_view name) const {
    if (const Found found = whole_name(name); found.node != no_node) return found;
    constexpr std::string_view blocked = "_nchwc";
    if (name.ends_with(blocked)) {
      const Found found = whole_name(name.substr(0, name.size() - blocked.size()));
      if (found.node != no_node) return {found.node, OriginRule::suffix};
    }
    std::size_t cut = name.size();
    for (std::size_t additions = 0; additions < most_additions && cut > 0; ++additions) {
      cut = name.rfind('/', cut - 1);
      if (cut == std::string_view::npos) break;
      const Found found = whole_name(name.substr(0, cut));
      if (found.node != no_node) return {found.node, OriginRule::suffix};
    }
    return {};
  }

  void claim_by_names(std::size_t op) {
    const ProfiledOperator& reported = operators_[op];
    for (const std::string& origin : reported.origin_names) claim(op, find(origin));
    claim(op, find(reported.name));
    for (const std::string& output : reported.outputs) {
      if (const auto node = edges_.producer(output)) claim(op, {*node, OriginRule::tensor});
    }
  }

  // The surer rule wins; of equal ones what computes, then what executes first.
  void claim(std::size_t op, Found found) {
    if (found.node == no_node || !may_own(operators_[op], model_.nodes[found.node])) return;
    std::size_t& owner = owner_[found.node];
    if (owner != no_node) {
      const bool is_better = is_movement_kind(operators_[owner].kind) && !is_movement_kind(operators_[op].kind);
      if (found.rule > rule_[found.node] || (found.rule == rule_[found.node] && !is_better)) return;
    }
    owner = op;
    rule_[found.node] = found.rule;
  }

  void infer(std::size_t node, std::size_t op) {
    owner_[node] = op;
    rule_[node] = OriginRule::inferred;
  }

  // What lies between an operator's inputs and its outputs, where both are tensors of the model, is in it: a fused
  // normalisation, say. Only where every way back from its outputs ends at its inputs or at constants.
  void claim_between_tensors(std::size_t op) {
    const ProfiledOperator& reported = operators_[op];
    const std::unordered_set<std::string_view> inputs(reported.inputs.begin(), reported.inputs.end());
    std::vector<std::size_t> waiting;
    for (const std::string& output : reported.outputs) {
      const auto node = edges_.producer(output);
      if (node && owner_[*node] == op) waiting.push_back(*node);
    }
    std::unordered_set<std::size_t> seen(waiting.begin(), waiting.end());
    while (!waiting.empty()) {
      const std::size_t node = waiting.back();
      waiting.pop_back();
      for (const std::size_t tensor : model_.nodes[node].inputs) {
        if (edges_.is_constant(tensor) || inputs.contains(model_.tensors[tensor].name)) continue;
        const auto before = edges_.producer(tensor);
        if (!before || (owner_[*before] != no_node && owner_[*before] != op)) return;
        if (!may_own(reported, model_.nodes[*before]) || seen.size() > most_fused) return;
        if (seen.insert(*before).second) waiting.push_back(*before);
      }
    }
    for (const std::size_t node : seen) {
      if (owner_[node] == no_node) infer(node, op);
    }
  }

  // A convolution or product goes with what its result alone goes into.
  void give_forward(std::size_t node) {
    std::size_t at = node;
    for (std::size_t steps = 0; steps < most_fused; ++steps) {
      const auto next = edges_.only_consumer(at);
      if (!next) return;
      if (owner_[*next] != no_node) {
        if (may_own(operators_[owner_[*next]], model_.nodes[node])) infer(node, owner_[*next]);
        return;
      }
      at = *next;
    }
  }

  // To the last of the operators that make what it reads: an addition goes with the second of its terms.
  void give_to_producer(std::size_t node, bool only_fitting) {
    if (owner_[node] != no_node || edges_.is_folded(node)) return;
    std::size_t last = no_node;
    for (const std::size_t tensor : model_.nodes[node].inputs) {
      const auto before = edges_.producer(tensor);
      if (!before || owner_[*before] == no_node) continue;
      if (only_fitting && !may_own(operators_[owner_[*before]], model_.nodes[node])) continue;
      if (last == no_node || owner_[*before] > last) last = owner_[*before];
    }
    if (last != no_node) infer(node, last);
  }

  void give_to_consumer(std::size_t node) {
    if (owner_[node] != no_node || edges_.is_folded(node)) return;
    std::size_t first = no_node;
    for (const std::size_t after : edges_.consumers(node)) {
      if (owner_[after] == no_node || !may_own(operators_[owner_[after]], model_.nodes[node])) continue;
      first = std::min(first, owner_[after]);
    }
    if (first != no_node) infer(node, first);
  }

  void write_operators() {
    std::vector<std::vector<std::size_t>> nodes(operators_.size());
    for (std::size_t node = 0; node < owner_.size(); ++node) {
      if (owner_[node] != no_node) nodes[owner_[node]].push_back(node);
    }
    for (std::size_t op = 0; op < operators_.size(); ++op) write(operators_[op], nodes[op]);
  }

  void write(ProfiledOperator& op, const std::vector<std::size_t>& nodes) {
    op.nodes.clear();
    op.rule = OriginRule::none;
    op.flops.reset();
    op.moved_bytes.reset();
    if (nodes.empty()) return;
    std::optional<double> flops = 0;
    std::size_t products = 0;
    op.rule = OriginRule::exact;
    bool is_named = false;
    for (const std::size_t node : nodes) {
      op.nodes.push_back(model_.nodes[node].name);
      const auto& of_node = model_.nodes[node].flops;
      flops = flops && of_node ? std::optional(*flops + *of_node) : std::nullopt;
      products += is_heavy(model_.nodes[node]) ? 1 : 0;
      if (rule_[node] == OriginRule::inferred) continue;
      is_named = true;
      op.rule = std::max(op.rule, rule_[node]);
    }
    op.flops = flops;
    op.moved_bytes = moved_bytes(model_, edges_, nodes, op.precision);
    const bool as_expected = has_expected_products(op, products);
    if (!is_named || !as_expected) op.rule = OriginRule::inferred;
    if (!as_expected) doubtful_.push_back(op.name);
  }

  // Kinds that the model has as well, and that do not multiply there, do not multiply here either.
  [[nodiscard]] bool has_expected_products(const ProfiledOperator& op, std::size_t products) const {
    if (is_composite_kind(op.kind)) return true;
    if (is_heavy_kind(op.kind)) return products == 1;
    return products == 0 || !edges_.is_light_kind(op.kind);
  }

  // What a runtime made several operators of: one that owns nothing, computes, and feeds one operator alone does a part
  // of what that one's first node says.
  void share_with_consumer(std::size_t op) {
    ProfiledOperator& reported = operators_[op];
    if (!reported.nodes.empty() || is_movement_kind(reported.kind)) return;
    if (reader_of_.empty()) index_readers();
    std::size_t reader = no_node;
    for (const std::string& output : reported.outputs) {
      const auto found = reader_of_.find(output);
      if (found == reader_of_.end()) continue;
      if (found->second == no_node || (reader != no_node && reader != found->second)) return;
      reader = found->second;
    }
    if (reader == no_node || reader <= op || operators_[reader].nodes.empty()) return;
    reported.nodes = {operators_[reader].nodes.front()};
    reported.rule = OriginRule::inferred;
  }

  // Tensors of the compiled graph -> the operator that reads them; none: several do.
  void index_readers() {
    for (std::size_t op = 0; op < operators_.size(); ++op) {
      for (const std::string& input : operators_[op].inputs) {
        const auto [place, is_new] = reader_of_.emplace(input, op);
        if (!is_new && place->second != op) place->second = no_node;
      }
    }
  }

  AttributionCheck check() {
    AttributionCheck result{.nodes = 0, .owned = 0, .unowned = {}, .doubtful = std::move(doubtful_)};
    for (std::size_t node = 0; node < owner_.size(); ++node) {
      if (owner_[node] == no_node && edges_.is_folded(node)) continue;
      ++result.nodes;
      if (owner_[node] != no_node) {
        ++result.owned;
      } else {
        result.unowned.push_back(model_.nodes[node].name);
      }
    }
    return result;
  }

  std::vector<ProfiledOperator>& operators_;
  const ModelGraph& model_;
  NodeEdges edges_;
  std::vector<std::size_t> owner_;  // per node
  std::vector<OriginRule> rule_;    // per node
  std::vector<std::string> doubtful_;
  std::unordered_map<std::string_view, std::size_t> reader_of_;
};

}  // namespace

AttributionCheck attribute(OperatorProfile& profile, const ModelGraph& model) {
  return Attribution(profile.operators, model).run();
}

}  // namespace infermeter
