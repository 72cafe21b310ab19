// ResNet-50 v1.5 (He et al. 2015, arXiv:1512.03385; v1.5: the stride of a block is in its 3×3 convolution).
#include <array>

#include "infermeter/models/zoo/architectures.hpp"

namespace infermeter {
namespace {

constexpr float resnet_epsilon = 1e-5F;
// The last normalisation of a block: what the residual branches add stays small beside what flows past them.
constexpr double last_gamma = 0.5;

struct ResNetConvolution {
  std::int64_t in, out, kernel, stride;
};

std::string add_resnet_convolution(Graph& graph, const std::string& name, const std::string& input,
                                   const ResNetConvolution& c) {
  const std::int64_t fan_in = c.in * c.kernel * c.kernel;
  const std::int64_t pad = c.kernel / 2;
  const Draw draw{.sd = fan_in_sd(relu_gain, fan_in), .zero_sum_row = static_cast<std::size_t>(fan_in)};
  return graph.node("Conv", name, {input, graph.weight(name + ".weight", {c.out, c.in, c.kernel, c.kernel}, draw)},
                    {{"kernel_shape", std::vector{c.kernel, c.kernel}},
                     {"strides", std::vector{c.stride, c.stride}},
                     {"pads", std::vector{pad, pad, pad, pad}}});
}

std::string bottleneck(Graph& graph, const std::string& name, const std::string& input, std::int64_t in,
                       std::int64_t width, std::int64_t stride) {
  const std::int64_t out = 4 * width;
  auto x = add_resnet_convolution(graph, name + ".conv1", input, {in, width, 1, 1});
  x = graph.batch_norm(name + ".bn1", x, width, 1, resnet_epsilon);
  x = graph.node("Relu", name + ".relu1", {x});
  x = add_resnet_convolution(graph, name + ".conv2", x, {width, width, 3, stride});
  x = graph.batch_norm(name + ".bn2", x, width, 1, resnet_epsilon);
  x = graph.node("Relu", name + ".relu2", {x});
  x = add_resnet_convolution(graph, name + ".conv3", x, {width, out, 1, 1});
  x = graph.batch_norm(name + ".bn3", x, out, last_gamma, resnet_epsilon);
  auto past = input;
  if (in != out) {
    past = add_resnet_convolution(graph, name + ".downsample.0", input, {in, out, 1, stride});
    past = graph.batch_norm(name + ".downsample.1", past, out, 1, resnet_epsilon);
  }
  x = graph.node("Add", name + ".add", {x, past});
  return graph.node("Relu", name + ".relu", {x});
}

}  // namespace

Graph make_resnet50() {
  Graph graph("resnet50", {3, 224, 224}, {1000});
  auto x = add_resnet_convolution(graph, "conv1", "input", {3, 64, 7, 2});
  x = graph.batch_norm("bn1", x, 64, 1, resnet_epsilon);
  x = graph.node("Relu", "relu", {x});
  x = graph.node("MaxPool", "maxpool", {x},
                 {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                  {"strides", std::vector<std::int64_t>{2, 2}},
                  {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  std::int64_t in = 64;
  const std::array<int, 4> blocks = {3, 4, 6, 3};
  for (std::size_t layer = 0; layer < blocks.size(); ++layer) {
    const std::int64_t width = std::int64_t{64} << layer;
    for (int block = 0; block < blocks[layer]; ++block) {
      const std::string name = "layer" + std::to_string(layer + 1) + "." + std::to_string(block);
      x = bottleneck(graph, name, x, in, width, block == 0 && layer > 0 ? 2 : 1);
      in = 4 * width;
    }
  }
  x = graph.node("GlobalAveragePool", "avgpool", {x});
  x = graph.node("Flatten", "flatten", {x}, {{"axis", std::int64_t{1}}});
  graph.finish(graph.linear("fc", x, 1000, in, fan_in_sd(4, in)));
  return graph;
}

}  // namespace infermeter
