// Who makes and who reads which tensor of a model's graph, by index and by name.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "infermeter/samples/model_graph.hpp"

namespace infermeter {

// Refers to the graph. Indices in the graph that lead nowhere count as absent.
class NodeEdges {
 public:
  explicit NodeEdges(const ModelGraph& model);

  [[nodiscard]] std::optional<std::size_t> node(std::string_view name) const;
  [[nodiscard]] std::optional<std::size_t> producer(std::string_view tensor) const;  // a node
  [[nodiscard]] std::optional<std::size_t> producer(std::size_t tensor) const;
  [[nodiscard]] const std::vector<std::size_t>& consumers(std::size_t node) const { return consumers_[node]; }
  // nullopt: its results go to several nodes, or to none.
  [[nodiscard]] std::optional<std::size_t> only_consumer(std::size_t node) const;
  // Whether a tensor goes to a node that is not among these, or out of the model.
  [[nodiscard]] bool leaves(std::size_t tensor, const std::unordered_set<std::size_t>& nodes) const;

  // Known before the model runs: a weight, or made of weights and known shapes only. Runtimes fold such nodes.
  [[nodiscard]] bool is_constant(std::size_t tensor) const { return tensor >= constant_.size() || constant_[tensor]; }
  [[nodiscard]] bool is_folded(std::size_t node) const { return folded_[node]; }

  // A kind that the model has, and that never multiplies there.
  [[nodiscard]] bool is_light_kind(std::string_view kind) const { return light_kinds_.contains(kind); }

 private:
  void fold(std::size_t node);

  const ModelGraph& model_;
  std::unordered_map<std::string_view, std::size_t> node_named_, tensor_named_;
  std::vector<std::size_t> producer_;                // per tensor
  std::vector<std::vector<std::size_t>> readers_;    // per tensor
  std::vector<std::vector<std::size_t>> consumers_;  // per node, each once
  std::vector<bool> constant_, folded_;
  std::unordered_set<std::string_view> light_kinds_;
};

}  // namespace infermeter
