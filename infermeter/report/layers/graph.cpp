#include <algorithm>
#include <cstdint>

#include "infermeter/report/layers/parts.hpp"

namespace infermeter {

LayersGraph graph_of(const LayersRecord& record) {
  const ModelGraph& graph = record.graph;
  const auto is_constant = [&](std::size_t tensor) {
    return tensor >= graph.tensors.size() || graph.tensors[tensor].is_constant;
  };
  LayersGraph kept;
  std::vector<std::size_t> place(graph.nodes.size(), SIZE_MAX);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (std::ranges::all_of(graph.nodes[node].outputs, is_constant)) continue;
    place[node] = kept.nodes.size();
    kept.nodes.push_back(node);
  }
  kept.edges = edges_of(graph);  // constants have none
  for (std::size_t& node : kept.edges.from) node = place[node];
  for (std::size_t& node : kept.edges.to) node = place[node];
  return kept;
}

}  // namespace infermeter
