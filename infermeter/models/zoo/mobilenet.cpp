// MobileNetV3-Small (Howard et al. 2019, arXiv:1905.02244) as torchvision has it.
#include <algorithm>
#include <array>

#include "infermeter/models/zoo/architectures.hpp"

namespace infermeter {
namespace {

constexpr float mobilenet_epsilon = 1e-3F;
constexpr double hard_swish_gain = 1.7;  // 1 / √E[hardswish(x)²], x standard normal

enum class Activation { none, relu, hard_swish };

struct MobileNetConvolution {
  std::int64_t in, out, kernel = 1, stride = 1, groups = 1;
  Activation activation = Activation::none;
  double gain = relu_gain;
};

struct Block {
  std::int64_t in, kernel, expanded, out;
  bool squeezes;
  Activation activation;
  std::int64_t stride;
};

constexpr auto re = Activation::relu;
constexpr auto hs = Activation::hard_swish;
constexpr std::array<Block, 11> blocks = {{{16, 3, 16, 16, true, re, 2},
                                           {16, 3, 72, 24, false, re, 2},
                                           {24, 3, 88, 24, false, re, 1},
                                           {24, 5, 96, 40, true, hs, 2},
                                           {40, 5, 240, 40, true, hs, 1},
                                           {40, 5, 240, 40, true, hs, 1},
                                           {40, 5, 120, 48, true, hs, 1},
                                           {48, 5, 144, 48, true, hs, 1},
                                           {48, 5, 288, 96, true, hs, 2},
                                           {96, 5, 576, 96, true, hs, 1},
                                           {96, 5, 576, 96, true, hs, 1}}};

double gain_after(Activation activation) {
  switch (activation) {
    case Activation::none: return 1;
    case Activation::relu: return relu_gain;
    case Activation::hard_swish: return hard_swish_gain;
  }
  return 1;
}

std::string add_mobilenet_convolution(Graph& graph, const std::string& name, const std::string& input,
                                      const MobileNetConvolution& c) {
  const std::int64_t fan_in = c.in / c.groups * c.kernel * c.kernel;
  const std::int64_t pad = c.kernel / 2;
  const bool depthwise = c.groups > 1;
  const Draw draw{.sd = fan_in_sd(c.gain, fan_in), .zero_sum_row = depthwise ? 0 : static_cast<std::size_t>(fan_in)};
  auto x = graph.node("Conv", name + ".0",
                      {input, graph.weight(name + ".0.weight", {c.out, c.in / c.groups, c.kernel, c.kernel}, draw)},
                      {{"kernel_shape", std::vector{c.kernel, c.kernel}},
                       {"strides", std::vector{c.stride, c.stride}},
                       {"pads", std::vector{pad, pad, pad, pad}},
                       {"group", c.groups}});
  x = graph.batch_norm(name + ".1", x, c.out, 1, mobilenet_epsilon);
  if (c.activation == Activation::relu) return graph.node("Relu", name + ".2", {x});
  if (c.activation == Activation::hard_swish) return graph.node("HardSwish", name + ".2", {x});
  return x;
}

std::string pointwise_with_bias(Graph& graph, const std::string& name, const std::string& input, std::int64_t out,
                                std::int64_t in) {
  return graph.node("Conv", name,
                    {input, graph.weight(name + ".weight", {out, in, 1, 1}, {.sd = fan_in_sd(relu_gain, in)}),
                     graph.weight(name + ".bias", {out}, {.sd = 0.05})},
                    {{"kernel_shape", std::vector<std::int64_t>{1, 1}}});
}

// The multiple of 8 nearest to a quarter of the channels, as torchvision rounds: never below 90 % of it.
std::int64_t squeeze_channels(std::int64_t channels) {
  const std::int64_t quarter = channels / 4;
  const std::int64_t rounded = std::max<std::int64_t>(8, (quarter + 4) / 8 * 8);
  return rounded * 10 < quarter * 9 ? rounded + 8 : rounded;
}

std::string squeeze_excite(Graph& graph, const std::string& name, const std::string& input, std::int64_t channels) {
  const std::int64_t squeezed = squeeze_channels(channels);
  auto x = graph.node("GlobalAveragePool", name + ".avgpool", {input});
  x = pointwise_with_bias(graph, name + ".fc1", x, squeezed, channels);
  x = graph.node("Relu", name + ".activation", {x});
  x = pointwise_with_bias(graph, name + ".fc2", x, channels, squeezed);
  x = graph.node("HardSigmoid", name + ".scale_activation", {x}, {{"alpha", 1.0F / 6.0F}, {"beta", 0.5F}});
  return graph.node("Mul", name, {x, input});
}

std::string inverted_residual(Graph& graph, const std::string& name, const std::string& input, const Block& b) {
  int part = 0;
  const auto next = [&] { return name + ".block." + std::to_string(part++); };
  auto x = input;
  if (b.expanded != b.in) {
    x = add_mobilenet_convolution(graph, next(), x,
                                  {.in = b.in, .out = b.expanded, .activation = b.activation, .gain = 1});
  }
  const double gain = gain_after(b.activation);
  x = add_mobilenet_convolution(graph, next(), x,
                                {.in = b.expanded,
                                 .out = b.expanded,
                                 .kernel = b.kernel,
                                 .stride = b.stride,
                                 .groups = b.expanded,
                                 .activation = b.activation,
                                 .gain = gain});
  if (b.squeezes) x = squeeze_excite(graph, next(), x, b.expanded);
  // A squeeze halves what it lets through: HardSigmoid is about 1/2.
  x = add_mobilenet_convolution(graph, next(), x,
                                {.in = b.expanded, .out = b.out, .gain = b.squeezes ? 2 * gain : gain});
  if (b.stride == 1 && b.in == b.out) x = graph.node("Add", name + ".add", {input, x});
  return x;
}

}  // namespace

Graph make_mobilenet_v3_small() {
  Graph graph("mobilenet_v3_small", {3, 224, 224}, {1000});
  auto x = add_mobilenet_convolution(graph, "features.0", "input",
                                     {.in = 3, .out = 16, .kernel = 3, .stride = 2, .activation = hs});
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    x = inverted_residual(graph, "features." + std::to_string(i + 1), x, blocks[i]);
  }
  x = add_mobilenet_convolution(graph, "features.12", x, {.in = 96, .out = 576, .activation = hs, .gain = 1});
  x = graph.node("GlobalAveragePool", "avgpool", {x});
  x = graph.node("Flatten", "flatten", {x}, {{"axis", std::int64_t{1}}});
  x = graph.linear("classifier.0", x, 1024, 576, fan_in_sd(hard_swish_gain, 576));
  x = graph.node("HardSwish", "classifier.1", {x});
  graph.finish(graph.linear("classifier.3", x, 1000, 1024, fan_in_sd(1, 1024)));
  return graph;
}

}  // namespace infermeter
