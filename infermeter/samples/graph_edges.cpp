#include "infermeter/samples/graph_edges.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace infermeter {
namespace {

constexpr std::size_t nobody = SIZE_MAX;

class EdgeList {
 public:
  explicit EdgeList(std::size_t nodes) : last_reader_(nodes, nobody) {}

  void add(std::size_t maker, std::size_t reader) {
    if (maker == reader || std::exchange(last_reader_[maker], reader) == reader) return;
    if (edges_.from.size() == kMostGraphEdges) {
      ++edges_.left_out;
      return;
    }
    edges_.from.push_back(maker);
    edges_.to.push_back(reader);
  }
  GraphEdges take() { return std::move(edges_); }

 private:
  GraphEdges edges_;
  std::vector<std::size_t> last_reader_;  // per maker
};

}  // namespace

GraphEdges edges_of(std::span<const ProfiledOperator> operators) {
  std::unordered_map<std::string_view, std::size_t> maker_of;
  for (std::size_t op = 0; op < operators.size(); ++op) {
    for (const std::string& tensor : operators[op].outputs) {
      if (!tensor.empty()) maker_of.emplace(tensor, op);
    }
  }
  EdgeList edges(operators.size());
  for (std::size_t op = 0; op < operators.size(); ++op) {
    for (const std::string& tensor : operators[op].inputs) {
      const auto found = maker_of.find(tensor);
      if (found != maker_of.end()) edges.add(found->second, op);
    }
  }
  return edges.take();
}

GraphEdges edges_of(const ModelGraph& graph) {
  std::vector<std::size_t> maker_of(graph.tensors.size(), nobody);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const std::size_t tensor : graph.nodes[node].outputs) {
      if (tensor >= maker_of.size() || graph.tensors[tensor].is_constant || maker_of[tensor] != nobody) continue;
      maker_of[tensor] = node;
    }
  }
  EdgeList edges(graph.nodes.size());
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const std::size_t tensor : graph.nodes[node].inputs) {
      if (tensor < maker_of.size() && maker_of[tensor] != nobody) edges.add(maker_of[tensor], node);
    }
  }
  return edges.take();
}

}  // namespace infermeter
