// GraphLayout: where the nodes of a graph stand in its picture, layer below layer. Pure and deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "infermeter/samples/graph_edges.hpp"

namespace infermeter {

// All nodes are of one size; lengths are in widths of a node.
struct GraphLayout {
  std::vector<std::uint32_t> layer;        // per node, from the top
  std::vector<double> x;                   // per node: its middle
  std::vector<std::vector<double>> bends;  // per node: where its results pass the layers beneath it, from the next on
  std::size_t layers = 0;
  double width = 0;
  std::size_t apart = 0;     // nodes without any edge: in rows of their own at the end
  std::size_t straight = 0;  // nodes whose results have no bends without room: their edges may cross nodes
  std::size_t left_out = 0;  // nodes beyond kMostDrawnNodes
};

inline constexpr std::size_t kMostDrawnNodes = 20'000;

// After Sugiyama, Tagawa & Toda 1981: layers by the longest path; long edges go through a place in each layer, those of
// one node together; the order in the layers by barycentres, as crossings get fewer; then places nearest to the
// neighbours' (least squares, which is isotonic regression in each layer). Edges that close a cycle point upwards.
// Almost linear: 20,000 nodes with as many edges as are kept take about a second.
[[nodiscard]] GraphLayout layout_graph(std::size_t nodes, const GraphEdges& edges);

}  // namespace infermeter
