#include "infermeter/report/graph/layers.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace infermeter {
namespace {

using Lists = std::vector<std::vector<std::size_t>>;

// Every node behind all whose results it reads, the first of those that may come next; where none may, as they wait for
// each other, the first of all.
std::vector<std::size_t> order_of_execution(const Lists& readers, std::vector<std::size_t> waits_for) {
  std::vector<std::size_t> order;
  std::vector<bool> is_done(readers.size(), false);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t node = 0; node < readers.size(); ++node) {
    if (waits_for[node] == 0) ready.push(node);
  }
  std::size_t first_left = 0;
  while (order.size() < readers.size()) {
    while (first_left < readers.size() && is_done[first_left]) ++first_left;
    const std::size_t node = ready.empty() ? first_left : ready.top();
    if (!ready.empty()) ready.pop();
    if (is_done[node]) continue;
    is_done[node] = true;
    order.push_back(node);
    for (const std::size_t reader : readers[node]) {
      if (--waits_for[reader] == 0 && !is_done[reader]) ready.push(reader);
    }
  }
  return order;
}

}  // namespace

LayeredGraph layered(std::size_t nodes, const GraphEdges& edges) {
  LayeredGraph graph{.layer = std::vector<std::uint32_t>(nodes, 0),
                     .targets = Lists(nodes),
                     .is_apart = std::vector<bool>(nodes, true),
                     .layers = 0};
  Lists readers(nodes);
  std::vector<std::size_t> inputs(nodes, 0);
  for (std::size_t i = 0; i < edges.from.size(); ++i) {
    if (edges.from[i] >= nodes || edges.to[i] >= nodes || edges.from[i] == edges.to[i]) continue;
    readers[edges.from[i]].push_back(edges.to[i]);
    ++inputs[edges.to[i]];
    graph.is_apart[edges.from[i]] = graph.is_apart[edges.to[i]] = false;
  }
  const std::vector<std::size_t> order = order_of_execution(readers, inputs);
  std::vector<std::size_t> rank(nodes);
  for (std::size_t i = 0; i < nodes; ++i) rank[order[i]] = i;
  std::vector<std::size_t> makers(nodes, 0);
  for (const std::size_t node : order) {
    for (const std::size_t reader : readers[node]) {
      if (rank[reader] < rank[node]) continue;
      graph.targets[node].push_back(reader);
      ++makers[reader];
      graph.layer[reader] = std::max(graph.layer[reader], graph.layer[node] + 1);
    }
  }
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (graph.targets[*node].size() <= makers[*node]) continue;
    std::uint32_t first = UINT32_MAX;
    for (const std::size_t reader : graph.targets[*node]) first = std::min(first, graph.layer[reader]);
    graph.layer[*node] = first - 1;
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    if (!graph.is_apart[node]) graph.layers = std::max(graph.layers, graph.layer[node] + std::size_t{1});
  }
  return graph;
}

}  // namespace infermeter
