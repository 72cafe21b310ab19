#include "infermeter/models/zoo/architectures.hpp"

namespace infermeter {

Graph make_mlp() {
  Graph graph("mlp", {16}, {10});
  auto x = graph.linear("fc1", "input", 64, 16, fan_in_sd(relu_gain, 16));
  x = graph.node("Relu", "relu1", {x});
  x = graph.linear("fc2", x, 32, 64, fan_in_sd(relu_gain, 64));
  x = graph.node("Relu", "relu2", {x});
  graph.finish(graph.linear("fc3", x, 10, 32, fan_in_sd(3, 32)));
  return graph;
}

}  // namespace infermeter
