// ModelGraph: the nodes of a model as its file has them, in execution order, with what it takes to count their work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infermeter {

struct GraphTensor {
  std::string name;
  std::string dtype;                               // "float32"; empty: not known
  std::optional<std::vector<std::int64_t>> shape;  // nullopt: not known
  bool is_constant = false;                        // a weight, or a Constant's value
  [[nodiscard]] std::optional<std::uint64_t> elements() const;
};

struct GraphNode {
  std::string name;                 // the file's own; where it has none, or not a unique one: "Conv#12", by position
  std::string kind;                 // "Conv", "com.microsoft.FusedConv" for other domains
  std::vector<std::size_t> inputs;  // indices into tensors; SIZE_MAX: an optional one that is absent
  std::vector<std::size_t> outputs;
  // Floating-point operations of one inference: 2 per multiply-accumulate of convolutions, matrix products, attention
  // and recurrent layers, 0 of all others. nullopt: its shapes are not known, or it runs a graph of its own.
  std::optional<double> flops;
};

struct ModelGraph {
  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;
};

}  // namespace infermeter
