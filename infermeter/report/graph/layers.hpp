// The layers of a graph: what reads something stands beneath what makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "infermeter/samples/graph_edges.hpp"

namespace infermeter {

struct LayeredGraph {
  std::vector<std::uint32_t> layer;               // per node
  std::vector<std::vector<std::size_t>> targets;  // per node: readers, all in layers beneath it
  std::vector<bool> is_apart;                     // per node: it has no edge
  std::size_t layers = 0;
};

// By the longest path. What more is made of than goes into it, an input's conversion say, stands right above the first
// of its readers. Where edges close a cycle those that point to what stands first among the nodes count as the other
// way round, and are no targets. Edges of nodes that are not there are left out.
[[nodiscard]] LayeredGraph layered(std::size_t nodes, const GraphEdges& edges);

}  // namespace infermeter
