// GraphEdges: which node of a graph reads what which other one makes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infermeter/samples/model_graph.hpp"
#include "infermeter/samples/operator_profile.hpp"

namespace infermeter {

// Each pair once, by the reader and then in the order of its inputs; indices into the nodes.
struct GraphEdges {
  std::vector<std::size_t> from, to;
  std::size_t left_out = 0;  // beyond kMostGraphEdges
};

inline constexpr std::size_t kMostGraphEdges = 100'000;

// By the tensors of the compiled graph, as far as the runtime reports them. Of several operators that make a tensor of
// one name the first one does.
[[nodiscard]] GraphEdges edges_of(std::span<const ProfiledOperator> operators);
// Without constants, and without what a node's own subgraphs read.
[[nodiscard]] GraphEdges edges_of(const ModelGraph& graph);

}  // namespace infermeter
