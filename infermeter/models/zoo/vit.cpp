// ViT-B/16 (Dosovitskiy et al. 2020, arXiv:2010.11929) as torchvision has it: pre-norm, a class token, GELU by erf.
#include "infermeter/models/zoo/architectures.hpp"

namespace infermeter {
namespace {

constexpr std::int64_t width = 768;
constexpr std::int64_t heads = 12;
constexpr std::int64_t head_width = width / heads;
constexpr std::int64_t mlp_width = 3072;
constexpr std::int64_t patch = 16;
constexpr std::int64_t patches = 196;
constexpr std::int64_t tokens = patches + 1;
constexpr int layers = 12;
constexpr float vit_epsilon = 1e-6F;
// The last matrix of each residual branch: 24 branches together are to add about as much as flows past them.
constexpr double branch_gain = 0.4;

std::string layer_norm(Graph& graph, const std::string& name, const std::string& input) {
  return graph.node("LayerNormalization", name,
                    {input, graph.weight(name + ".weight", {width}, {.mean = 1, .sd = 0.1}),
                     graph.weight(name + ".bias", {width}, {.sd = 0.05})},
                    {{"axis", std::int64_t{-1}}, {"epsilon", vit_epsilon}});
}

// x · Wᵀ + b over the last dimension. `weight` and `bias` are full names: attention's have another form in torch.
std::string project(Graph& graph, const std::string& name, const std::string& input, const std::string& weight,
                    const std::string& bias, std::int64_t out, std::int64_t in, double gain) {
  auto x = graph.node("MatMul", name + ".matmul",
                      {input, graph.transposed_weight(weight, out, in, {.sd = fan_in_sd(gain, in)})});
  return graph.node("Add", name, {x, graph.weight(bias, {out}, {.sd = 0.02})});
}

std::string to_heads(Graph& graph, const std::string& name, const std::string& input, const std::string& shape,
                     const std::vector<std::int64_t>& order) {
  return graph.node("Transpose", name, {graph.node("Reshape", name + ".reshape", {input, shape})}, {{"perm", order}});
}

std::string add_attention(Graph& graph, const std::string& name, const std::string& input) {
  const auto qkv =
      project(graph, name + ".in_proj", input, name + ".in_proj_weight", name + ".in_proj_bias", 3 * width, width, 0.7);
  const auto parts = graph.split(name + ".split", qkv, {width, width, width}, 2);
  const auto split_shape = graph.integers(name + ".split_shape", {0, tokens, heads, head_width});
  const auto query = to_heads(graph, name + ".query", parts[0], split_shape, {0, 2, 1, 3});
  const auto key = to_heads(graph, name + ".key", parts[1], split_shape, {0, 2, 3, 1});
  const auto value = to_heads(graph, name + ".value", parts[2], split_shape, {0, 2, 1, 3});
  auto x = graph.node("MatMul", name + ".scores", {query, key});
  x = graph.node("Mul", name + ".scale", {x, graph.constant(name + ".scale_factor", 0.125F)});  // 1 / √head_width
  x = graph.node("Softmax", name + ".softmax", {x}, {{"axis", std::int64_t{-1}}});
  x = graph.node("MatMul", name + ".context", {x, value});
  x = graph.node("Transpose", name + ".merge", {x}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  x = graph.node("Reshape", name + ".merge.reshape", {x, graph.integers(name + ".merge_shape", {0, tokens, width})});
  return project(graph, name + ".out_proj", x, name + ".out_proj.weight", name + ".out_proj.bias", width, width,
                 3 * branch_gain);
}

// x · (1 + erf(x / √2)) / 2
std::string gelu(Graph& graph, const std::string& name, const std::string& input) {
  auto x = graph.node("Div", name + ".div", {input, graph.constant(name + ".sqrt2", 1.41421354F)});
  x = graph.node("Erf", name + ".erf", {x});
  x = graph.node("Add", name + ".add", {x, graph.constant(name + ".one", 1)});
  x = graph.node("Mul", name + ".mul", {input, x});
  return graph.node("Mul", name, {x, graph.constant(name + ".half", 0.5F)});
}

std::string mlp(Graph& graph, const std::string& name, const std::string& input) {
  auto x = project(graph, name + ".0", input, name + ".0.weight", name + ".0.bias", mlp_width, width, 1.5);
  x = gelu(graph, name + ".1", x);
  return project(graph, name + ".3", x, name + ".3.weight", name + ".3.bias", width, mlp_width, branch_gain);
}

std::string encoder_layer(Graph& graph, const std::string& name, const std::string& input) {
  auto x = layer_norm(graph, name + ".ln_1", input);
  x = add_attention(graph, name + ".self_attention", x);
  const auto middle = graph.node("Add", name + ".add1", {x, input});
  x = layer_norm(graph, name + ".ln_2", middle);
  x = mlp(graph, name + ".mlp", x);
  return graph.node("Add", name + ".add2", {middle, x});
}

// One token per patch, the class token before them, and where each is.
std::string embed(Graph& graph) {
  constexpr std::size_t fan_in = 3 * patch * patch;
  auto x = graph.node("Conv", "conv_proj",
                      {"input",
                       graph.weight("conv_proj.weight", {width, 3, patch, patch},
                                    {.sd = fan_in_sd(2.5, fan_in), .zero_sum_row = fan_in}),
                       graph.weight("conv_proj.bias", {width}, {.sd = 0.02})},
                      {{"kernel_shape", std::vector{patch, patch}}, {"strides", std::vector{patch, patch}}});
  x = graph.node("Reshape", "patches.reshape", {x, graph.integers("patches.shape", {0, width, patches})});
  x = graph.node("Transpose", "patches", {x}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  const auto batch =
      graph.node("Shape", "batch_size", {"input"}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  const auto shape = graph.node("Concat", "class_token.shape", {batch, graph.integers("class_token.rest", {1, width})},
                                {{"axis", std::int64_t{0}}});
  const auto token =
      graph.node("Expand", "class_token.expand", {graph.weight("class_token", {1, 1, width}, {.sd = 0.5}), shape});
  x = graph.node("Concat", "encoder.tokens", {token, x}, {{"axis", std::int64_t{1}}});
  return graph.node("Add", "encoder.embedded",
                    {x, graph.weight("encoder.pos_embedding", {1, tokens, width}, {.sd = 0.2})});
}

}  // namespace

Graph make_vit_b_16() {
  Graph graph("vit_b_16", {3, 224, 224}, {1000});
  auto x = embed(graph);
  for (int i = 0; i < layers; ++i) {
    x = encoder_layer(graph, "encoder.layers.encoder_layer_" + std::to_string(i), x);
  }
  x = layer_norm(graph, "encoder.ln", x);
  const auto first = graph.integers("class_token.index", {0});
  x = graph.node("Gather", "class_token.gather", {x, first}, {{"axis", std::int64_t{1}}});
  x = graph.node("Flatten", "class_token.flatten", {x}, {{"axis", std::int64_t{1}}});
  graph.finish(graph.linear("heads.head", x, 1000, width, fan_in_sd(2, width)));
  return graph;
}

}  // namespace infermeter
