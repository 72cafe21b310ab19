#include "infermeter/profile/operators/node_edges.hpp"

#include <algorithm>
#include <cstdint>

namespace infermeter {
namespace {

constexpr std::size_t no_edge = SIZE_MAX;

bool is_random(std::string_view kind) {
  return kind.starts_with("Random") || kind == "Multinomial" || kind == "Bernoulli";
}

}  // namespace

NodeEdges::NodeEdges(const ModelGraph& model)
    : model_(model),
      producer_(model.tensors.size(), no_edge),
      readers_(model.tensors.size()),
      consumers_(model.nodes.size()),
      constant_(model.tensors.size(), false),
      folded_(model.nodes.size(), false) {
  for (std::size_t tensor = 0; tensor < model.tensors.size(); ++tensor) {
    tensor_named_.emplace(model.tensors[tensor].name, tensor);
    constant_[tensor] = model.tensors[tensor].is_constant;
  }
  std::unordered_set<std::string_view> heavy_kinds;
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    const GraphNode& of_model = model.nodes[node];
    node_named_.emplace(of_model.name, node);
    light_kinds_.insert(of_model.kind);
    if (of_model.flops.value_or(1) > 0) heavy_kinds.insert(of_model.kind);
    for (const std::size_t tensor : of_model.outputs) {
      if (tensor < producer_.size()) producer_[tensor] = node;
    }
    for (const std::size_t tensor : of_model.inputs) {
      if (tensor < readers_.size() && (readers_[tensor].empty() || readers_[tensor].back() != node)) {
        readers_[tensor].push_back(node);
      }
    }
  }
  for (const std::string_view kind : heavy_kinds) light_kinds_.erase(kind);
  std::vector<bool> is_counted(model.tensors.size(), false);  // of several nodes that claim to make a tensor one does
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    for (const std::size_t tensor : model.nodes[node].outputs) {
      if (tensor >= readers_.size() || producer_[tensor] != node || is_counted[tensor]) continue;
      is_counted[tensor] = true;
      consumers_[node].insert(consumers_[node].end(), readers_[tensor].begin(), readers_[tensor].end());
    }
    std::ranges::sort(consumers_[node]);
    const auto again = std::ranges::unique(consumers_[node]);
    consumers_[node].erase(again.begin(), again.end());
    fold(node);
  }
}

void NodeEdges::fold(std::size_t node) {
  const GraphNode& of_model = model_.nodes[node];
  if (is_random(of_model.kind)) return;
  const auto is_known = [&](std::size_t tensor) { return tensor >= constant_.size() || constant_[tensor]; };
  const bool is_of_shape = of_model.kind == "Shape" || of_model.kind == "Size";
  const bool has_shape = !of_model.inputs.empty() && of_model.inputs[0] < model_.tensors.size() &&
                         model_.tensors[of_model.inputs[0]].shape.has_value();
  if (!std::ranges::all_of(of_model.inputs, is_known) && !(is_of_shape && has_shape)) return;
  folded_[node] = true;
  for (const std::size_t tensor : of_model.outputs) {
    if (tensor < constant_.size()) constant_[tensor] = true;
  }
}

std::optional<std::size_t> NodeEdges::node(std::string_view name) const {
  const auto found = node_named_.find(name);
  return found == node_named_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> NodeEdges::producer(std::string_view tensor) const {
  const auto found = tensor_named_.find(tensor);
  return found == tensor_named_.end() ? std::nullopt : producer(found->second);
}

std::optional<std::size_t> NodeEdges::producer(std::size_t tensor) const {
  return tensor >= producer_.size() || producer_[tensor] == no_edge ? std::nullopt : std::optional(producer_[tensor]);
}

std::optional<std::size_t> NodeEdges::only_consumer(std::size_t node) const {
  return consumers_[node].size() == 1 ? std::optional(consumers_[node].front()) : std::nullopt;
}

bool NodeEdges::leaves(std::size_t tensor, const std::unordered_set<std::size_t>& nodes) const {
  const auto is_outside = [&](std::size_t node) { return !nodes.contains(node); };
  return readers_[tensor].empty() || std::ranges::any_of(readers_[tensor], is_outside);
}

}  // namespace infermeter
