#include "infermeter/report/graph/layout.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "infermeter/report/graph/layers.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_places = 200'000;  // of long edges
constexpr double node_gap = 0.18;             // in widths of a node
constexpr double place_width = 0.12;
constexpr std::size_t fewest_in_row = 4;  // of nodes apart

using Indices = std::vector<std::size_t>;

// Nodes and places of long edges, with links between neighbouring layers only.
struct Vertices {
  std::size_t nodes = 0;
  std::vector<std::uint32_t> layer;
  std::vector<Indices> up, down;

  [[nodiscard]] bool is_node(std::size_t vertex) const { return vertex < nodes; }
  [[nodiscard]] std::size_t size() const { return layer.size(); }
  std::size_t add(std::uint32_t of_layer) {
    layer.push_back(of_layer);
    up.emplace_back();
    down.emplace_back();
    return layer.size() - 1;
  }
  void link(std::size_t above, std::size_t below) {
    down[above].push_back(below);
    up[below].push_back(above);
  }
};

// No network has so many; a hostile graph is to be drawn soon rather than well.
int sweeps_over(const Vertices& vertices) { return vertices.size() > 60'000 ? 4 : 12; }

// Of each node: the vertices that its results go through, itself first.
using Chains = std::vector<Indices>;

Vertices vertices_of(const LayeredGraph& graph, Chains& chains, std::size_t& straight) {
  Vertices vertices{.nodes = graph.layer.size(), .layer = graph.layer, .up = {}, .down = {}};
  vertices.up.resize(graph.layer.size());
  vertices.down.resize(graph.layer.size());
  chains.resize(graph.layer.size());
  std::size_t left = most_places;
  for (std::size_t node = 0; node < graph.layer.size(); ++node) {
    std::uint32_t last = graph.layer[node] + 1;
    for (const std::size_t target : graph.targets[node]) last = std::max(last, graph.layer[target]);
    chains[node].push_back(node);
    const std::size_t places = last - graph.layer[node] - 1;
    if (places > left) {
      ++straight;
    } else {
      left -= places;
      for (std::size_t i = 0; i < places; ++i) {
        const std::size_t place = vertices.add(graph.layer[node] + 1 + static_cast<std::uint32_t>(i));
        vertices.link(chains[node].back(), place);
        chains[node].push_back(place);
      }
    }
    for (const std::size_t target : graph.targets[node]) {
      const std::size_t above = graph.layer[target] - graph.layer[node] - 1;
      if (above < chains[node].size()) vertices.link(chains[node][above], target);
    }
  }
  return vertices;
}

// The order in each layer, by who is met first on the way down from the top.
std::vector<Indices> first_order(const Vertices& vertices, std::size_t layers, const std::vector<bool>& is_apart) {
  std::vector<Indices> order(layers);
  std::vector<bool> is_met(vertices.size(), false);
  Indices waiting;
  for (std::size_t root = 0; root < vertices.nodes; ++root) {
    if (is_met[root] || is_apart[root] || !vertices.up[root].empty()) continue;
    waiting.push_back(root);
    while (!waiting.empty()) {
      const std::size_t vertex = waiting.back();
      waiting.pop_back();
      if (is_met[vertex]) continue;
      is_met[vertex] = true;
      order[vertices.layer[vertex]].push_back(vertex);
      const Indices& below = vertices.down[vertex];
      waiting.insert(waiting.end(), below.rbegin(), below.rend());
    }
  }
  return order;
}

class Ordering {
 public:
  Ordering(const Vertices& vertices, std::vector<Indices> order)
      : vertices_(vertices), order_(std::move(order)), place_(vertices.size()), key_(vertices.size()) {
    for (const Indices& layer : order_) number(layer);
  }

  std::vector<Indices> run() {
    const int most_sweeps = sweeps_over(vertices_);
    std::vector<Indices> best = order_;
    std::size_t fewest = crossings();
    for (int sweep = 0; sweep < most_sweeps && fewest > 0; ++sweep) {
      for (std::size_t i = 0; i < order_.size(); ++i) {
        const bool is_down = sweep % 2 == 0;
        sort_layer(is_down ? i : order_.size() - 1 - i, is_down ? vertices_.up : vertices_.down);
      }
      const std::size_t now = crossings();
      if (now >= fewest) continue;
      fewest = now;
      best = order_;
    }
    return best;
  }

 private:
  void number(const Indices& layer) {
    for (std::size_t i = 0; i < layer.size(); ++i) place_[layer[i]] = i;
  }

  void sort_layer(std::size_t at, const std::vector<Indices>& neighbours) {
    Indices& layer = order_[at];
    for (const std::size_t vertex : layer) {
      double sum = 0;
      for (const std::size_t other : neighbours[vertex]) sum += static_cast<double>(place_[other]);
      const std::size_t count = neighbours[vertex].size();
      key_[vertex] = count == 0 ? static_cast<double>(place_[vertex]) : sum / static_cast<double>(count);
    }
    std::ranges::stable_sort(layer, {}, [this](std::size_t vertex) { return key_[vertex]; });
    number(layer);
  }

  // Pairs of links of neighbouring layers that cross: inversions, counted with a Fenwick tree.
  [[nodiscard]] std::size_t crossings() const {
    std::size_t count = 0;
    std::vector<std::size_t> tree, ends;
    for (std::size_t at = 0; at + 1 < order_.size(); ++at) {
      tree.assign(order_[at + 1].size() + 1, 0);
      std::size_t seen = 0;
      for (const std::size_t vertex : order_[at]) {
        ends.clear();
        for (const std::size_t below : vertices_.down[vertex]) ends.push_back(place_[below]);
        for (const std::size_t end : ends) {
          std::size_t not_right = 0;
          for (std::size_t i = end + 1; i > 0; i &= i - 1) not_right += tree[i];
          count += seen - not_right;
        }
        for (const std::size_t end : ends) {
          for (std::size_t i = end + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
        }
        seen += ends.size();
      }
    }
    return count;
  }

  const Vertices& vertices_;
  std::vector<Indices> order_;
  std::vector<std::size_t> place_;
  std::vector<double> key_;
};

double half_width(const Vertices& vertices, std::size_t vertex) {
  return (vertices.is_node(vertex) ? 1 : place_width) / 2;
}

class Placing {
 public:
  Placing(const Vertices& vertices, const std::vector<Indices>& order)
      : vertices_(vertices),
        order_(order),
        x_(vertices.size(), 0),
        above_(vertices.size(), 0),
        below_(vertices.size(), 0) {
    for (const Indices& layer : order_) {
      for (const std::size_t vertex : layer) count_nodes(vertex, vertices_.up[vertex], above_);
    }
    for (auto layer = order_.rbegin(); layer != order_.rend(); ++layer) {
      for (const std::size_t vertex : *layer) count_nodes(vertex, vertices_.down[vertex], below_);
    }
  }

  std::vector<double> run() {
    for (const Indices& layer : order_) set_apart(layer);
    const int sweeps = sweeps_over(vertices_);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const bool both = sweep < sweeps / 2;  // then one side at a time, which leaves long lines without bends
      for (std::size_t i = 0; i < order_.size(); ++i) place(order_[i], true, both);
      for (std::size_t i = order_.size(); i > 0; --i) place(order_[i - 1], both, true);
    }
    return std::move(x_);
  }

 private:
  // On the longest way from or to a vertex, with itself.
  void count_nodes(std::size_t vertex, const Indices& neighbours, std::vector<std::size_t>& count) const {
    for (const std::size_t other : neighbours) count[vertex] = std::max(count[vertex], count[other]);
    if (vertices_.is_node(vertex)) ++count[vertex];
  }

  // Of a link: it is on the longest way to the lower one and on the longest way from the upper one.
  [[nodiscard]] bool is_main(std::size_t upper, std::size_t lower) const {
    return above_[lower] == above_[upper] + 1 && below_[upper] == below_[lower] + 1;
  }

  // The main ways are to be straight before anything else, then long edges.
  [[nodiscard]] double weight_of(std::size_t upper, std::size_t lower) const {
    const bool from_node = vertices_.is_node(upper), to_node = vertices_.is_node(lower);
    if (from_node && to_node) return is_main(upper, lower) ? 100 : 1;
    return from_node || to_node ? 2 : 8;
  }

  [[nodiscard]] double step(const Indices& layer, std::size_t i) const {
    return half_width(vertices_, layer[i - 1]) + half_width(vertices_, layer[i]) + node_gap;
  }

  // Side by side, around 0.
  void set_apart(const Indices& layer) {
    if (layer.empty()) return;
    double at = 0;
    x_[layer[0]] = 0;
    for (std::size_t i = 1; i < layer.size(); ++i) x_[layer[i]] = at += step(layer, i);
    for (const std::size_t vertex : layer) x_[vertex] -= at / 2;
  }

  // As near to the neighbours' mean as the order and the distances allow: y, which is x without the distances to the
  // left, must not fall; those that would share the mean of their wishes (pool adjacent violators).
  void place(const Indices& layer, bool by_upper, bool by_lower) {
    struct Block {
      double sum = 0, weight = 0;
      std::size_t count = 0;
      [[nodiscard]] double mean() const { return sum / weight; }
    };
    std::vector<Block> blocks;
    std::vector<double> offsets;
    double offset = 0;
    for (std::size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) offset += step(layer, i);
      offsets.push_back(offset);
      const auto [wish, weight] = wish_of(layer[i], by_upper, by_lower);
      blocks.push_back({.sum = (wish - offset) * weight, .weight = weight, .count = 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back().sum += last.sum;
        blocks.back().weight += last.weight;
        blocks.back().count += last.count;
      }
    }
    std::size_t i = 0;
    for (const Block& block : blocks) {
      for (std::size_t k = 0; k < block.count; ++k, ++i) x_[layer[i]] = block.mean() + offsets[i];
    }
  }

  [[nodiscard]] std::pair<double, double> wish_of(std::size_t vertex, bool by_upper, bool by_lower) const {
    double sum = 0, weight = 0;
    const auto add = [&](std::size_t other, double of_link) {
      sum += of_link * x_[other];
      weight += of_link;
    };
    if (by_upper) {
      for (const std::size_t other : vertices_.up[vertex]) add(other, weight_of(other, vertex));
    }
    if (by_lower) {
      for (const std::size_t other : vertices_.down[vertex]) add(other, weight_of(vertex, other));
    }
    constexpr double hardly = 0.01;  // who has no neighbour there stays where it is, unless somebody comes
    return weight == 0 ? std::pair(x_[vertex], hardly) : std::pair(sum / weight, weight);
  }

  const Vertices& vertices_;
  const std::vector<Indices>& order_;
  std::vector<double> x_;
  std::vector<std::size_t> above_, below_;  // nodes on the longest way to and from each vertex
};

double rounded(double value) { return std::round(value * 100) / 100; }

void place_apart(GraphLayout& layout, const std::vector<bool>& is_apart) {
  const std::size_t in_row = std::max(fewest_in_row, static_cast<std::size_t>(layout.width / (1 + node_gap)));
  const std::size_t first = layout.layers + 1;  // a free layer between
  for (std::size_t node = 0; node < layout.layer.size(); ++node) {
    if (!is_apart[node]) continue;
    layout.layer[node] = static_cast<std::uint32_t>(first + layout.apart / in_row);
    layout.x[node] = rounded(0.5 + static_cast<double>(layout.apart % in_row) * (1 + node_gap));
    layout.width = std::max(layout.width, layout.x[node] + 0.5);
    layout.layers = layout.layer[node] + std::size_t{1};
    ++layout.apart;
  }
}

}  // namespace

GraphLayout layout_graph(std::size_t nodes, const GraphEdges& edges) {
  GraphLayout layout;
  layout.left_out = nodes - std::min(nodes, kMostDrawnNodes);
  const LayeredGraph graph = layered(nodes - layout.left_out, edges);
  Chains chains;
  const Vertices vertices = vertices_of(graph, chains, layout.straight);
  const std::vector<Indices> order = Ordering(vertices, first_order(vertices, graph.layers, graph.is_apart)).run();
  const std::vector<double> x = Placing(vertices, order).run();
  double left = 0, right = 0;
  bool is_first = true;
  for (const Indices& layer : order) {
    for (const std::size_t vertex : layer) {
      const double half = half_width(vertices, vertex);
      left = is_first ? x[vertex] - half : std::min(left, x[vertex] - half);
      right = is_first ? x[vertex] + half : std::max(right, x[vertex] + half);
      is_first = false;
    }
  }
  layout.layer = graph.layer;
  layout.layers = graph.layers;
  layout.width = rounded(right - left);
  for (const Indices& chain : chains) {
    layout.x.push_back(rounded(x[chain[0]] - left));
    auto& bends = layout.bends.emplace_back();
    for (std::size_t i = 1; i < chain.size(); ++i) bends.push_back(rounded(x[chain[i]] - left));
  }
  place_apart(layout, graph.is_apart);
  return layout;
}

}  // namespace infermeter
