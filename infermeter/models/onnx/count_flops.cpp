#include "infermeter/models/onnx/count_flops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace infermeter {
namespace {

using Flops = std::optional<double>;
using Dims = std::span<const std::int64_t>;

double product_of(Dims dims) {
  double result = 1;
  for (const std::int64_t size : dims) result *= static_cast<double>(size);
  return result;
}

// A node's tensors' shapes.
class Shapes {
 public:
  Shapes(const OnnxNode& node, const OnnxTypes& types) : node_(node), types_(types) {}

  [[nodiscard]] const std::vector<std::int64_t>* input(std::size_t i) const { return find(node_.inputs, i); }
  [[nodiscard]] const std::vector<std::int64_t>* output(std::size_t i) const { return find(node_.outputs, i); }
  [[nodiscard]] bool has_input(std::size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
  [[nodiscard]] const OnnxNode& node() const { return node_; }

 private:
  [[nodiscard]] const std::vector<std::int64_t>* find(const std::vector<std::string_view>& names, std::size_t i) const {
    if (i >= names.size() || names[i].empty()) return nullptr;
    const auto found = types_.find(std::string(names[i]));
    return found == types_.end() || !found->second.shape ? nullptr : &*found->second.shape;
  }

  const OnnxNode& node_;
  const OnnxTypes& types_;
};

// Every element of the output is a sum over the kernel: weights are (M, C / groups, kernel...).
Flops convolution(const Shapes& shapes, std::size_t weights_at) {
  const auto* const out = shapes.output(0);
  const auto* const weights = shapes.input(weights_at);
  if (out == nullptr || weights == nullptr || weights->size() < 2) return std::nullopt;
  return 2 * product_of(*out) * product_of(Dims(*weights).subspan(1));
}

// Every element of the input goes into M / groups kernels: weights are (C, M / groups, kernel...).
Flops transposed_convolution(const Shapes& shapes) {
  const auto* const in = shapes.input(0);
  const auto* const weights = shapes.input(1);
  if (in == nullptr || weights == nullptr || weights->size() < 2) return std::nullopt;
  return 2 * product_of(*in) * product_of(Dims(*weights).subspan(1));
}

// Every element of the output is a sum over A's last dimension, or over its last but one if it is transposed.
Flops matrix_product(const Shapes& shapes, std::size_t a_at, std::size_t b_at) {
  const auto* const a = shapes.input(a_at);
  const auto* const out = shapes.output(0);
  if (a == nullptr || a->empty() || out == nullptr || !shapes.has_input(b_at)) return std::nullopt;
  const bool transposed = integer_of(shapes.node(), "transA").value_or(0) != 0 && a->size() >= 2;
  return 2 * product_of(*out) * static_cast<double>((*a)[a->size() - (transposed ? 2 : 1)]);
}

// Of two operands: one multiplication for every combination of the letters' values.
Flops einsum(const Shapes& shapes) {
  if (shapes.node().inputs.size() < 2) return 0;
  const auto equation = text_of(shapes.node(), "equation");
  if (!equation || shapes.node().inputs.size() > 2 || equation->find('.') != std::string_view::npos) {
    return std::nullopt;
  }
  std::map<char, std::int64_t> sizes;
  std::size_t operand = 0, axis = 0;
  for (const char letter : equation->substr(0, equation->find("->"))) {
    if (letter == ' ') continue;
    if (letter == ',') {
      ++operand;
      axis = 0;
      continue;
    }
    const auto* const shape = shapes.input(operand);
    if (shape == nullptr || axis >= shape->size()) return std::nullopt;
    std::int64_t& size = sizes.emplace(letter, 1).first->second;
    size = std::max(size, (*shape)[axis++]);
  }
  double result = 2;
  for (const auto& [letter, size] : sizes) result *= static_cast<double>(size);
  return result;
}

// Weights W (directions, gates x hidden, input) and R (directions, gates x hidden, hidden), once a step and item.
Flops recurrent(const Shapes& shapes) {
  const auto* const in = shapes.input(0);
  const auto* const weights = shapes.input(1);
  const auto* const recurrence = shapes.input(2);
  if (in == nullptr || in->size() != 3 || weights == nullptr || recurrence == nullptr) return std::nullopt;
  return 2 * product_of(Dims(*in).first(2)) * (product_of(*weights) + product_of(*recurrence));
}

// Q x K' and the result x V: B queries of S positions on T keys, of `query` and `value` features over all heads.
double attention_flops(double batch, double queries, double keys, double query_features, double value_features) {
  return 2 * batch * queries * keys * (query_features + value_features);
}

double at(const std::vector<std::int64_t>& shape, std::size_t i) { return static_cast<double>(shape[i]); }

// Keys of earlier calls: dimension `axis` of an optional input of 4 or 5 dimensions.
Flops past_keys(const Shapes& shapes, std::size_t input, std::size_t axis) {
  if (!shapes.has_input(input)) return 0;
  const auto* const past = shapes.input(input);
  if (past == nullptr || past->size() <= axis) return std::nullopt;
  return at(*past, axis);
}

// com.microsoft.Attention: the projection of Q, K and V as well.
Flops attention_with_projection(const Shapes& shapes) {
  const auto* const in = shapes.input(0);
  const auto* const weights = shapes.input(1);
  const Flops past = past_keys(shapes, 4, 3);
  if (in == nullptr || in->size() != 3 || weights == nullptr || weights->size() != 2 || !past) return std::nullopt;
  double query = at(*weights, 1) / 3, value = query;
  if (const auto sizes = integers_of(shapes.node(), "qkv_hidden_sizes"); sizes && sizes->size() == 3) {
    query = at(*sizes, 0);
    value = at(*sizes, 2);
  }
  return 2 * product_of(*in) * at(*weights, 1) +
         attention_flops(at(*in, 0), at(*in, 1), at(*in, 1) + *past, query, value);
}

// com.microsoft.MultiHeadAttention: Q (B, S, H), K (B, T, H) or (B, heads, T, size), V likewise.
Flops multi_head_attention(const Shapes& shapes) {
  const auto* const q = shapes.input(0);
  const auto* const k = shapes.input(1);
  const auto* const out = shapes.output(0);
  const Flops past = past_keys(shapes, 6, 2);
  if (q == nullptr || q->size() != 3 || k == nullptr || (k->size() != 3 && k->size() != 4)) return std::nullopt;
  if (out == nullptr || out->size() != 3 || !past) return std::nullopt;
  return attention_flops(at(*q, 0), at(*q, 1), at(*k, k->size() == 3 ? 1 : 2) + *past, at(*q, 2), at(*out, 2));
}

// ONNX's Attention (operator set 23): Q (B, heads, S, size) or (B, S, heads x size), K and V likewise.
Flops standard_attention(const Shapes& shapes) {
  const auto* const q = shapes.input(0);
  const auto* const k = shapes.input(1);
  const auto* const v = shapes.input(2);
  const Flops past = past_keys(shapes, 4, 2);
  if (q == nullptr || k == nullptr || v == nullptr || !past || k->size() != q->size() || v->size() != q->size()) {
    return std::nullopt;
  }
  if (q->size() == 4) {
    return attention_flops(at(*q, 0), at(*q, 2), at(*k, 2) + *past, at(*q, 1) * at(*q, 3), at(*q, 1) * at(*v, 3));
  }
  const auto heads = integer_of(shapes.node(), "q_num_heads"), groups = integer_of(shapes.node(), "kv_num_heads");
  if (q->size() != 3 || !heads || !groups || *heads < 1 || *groups < 1) return std::nullopt;
  const double values = at(*v, 2) / static_cast<double>(*groups) * static_cast<double>(*heads);
  return attention_flops(at(*q, 0), at(*q, 1), at(*k, 1) + *past, at(*q, 2), values);
}

// com.microsoft.MatMulNBits: B is packed, its shape is two attributes.
Flops packed_product(const Shapes& shapes) {
  const auto* const a = shapes.input(0);
  const auto columns = integer_of(shapes.node(), "N");
  if (a == nullptr || !columns || *columns < 1) return std::nullopt;
  return 2 * product_of(*a) * static_cast<double>(*columns);
}

// Operators by what they compute; a and b are the places of the operands among the inputs.
struct CountedFlops {
  std::string_view op;
  enum class How { convolution, transposed, product, packed } how;
  std::size_t a = 0, b = 1;
};
constexpr std::array counted = {
    CountedFlops{"Conv", CountedFlops::How::convolution},
    CountedFlops{"FusedConv", CountedFlops::How::convolution},
    CountedFlops{"NhwcFusedConv", CountedFlops::How::convolution},
    CountedFlops{"NhwcConv", CountedFlops::How::convolution},
    CountedFlops{"ConvInteger", CountedFlops::How::convolution},
    CountedFlops{"QLinearConv", CountedFlops::How::convolution, 0, 3},
    CountedFlops{"ConvTranspose", CountedFlops::How::transposed},
    CountedFlops{"MatMul", CountedFlops::How::product},
    CountedFlops{"Gemm", CountedFlops::How::product},
    CountedFlops{"MatMulInteger", CountedFlops::How::product},
    CountedFlops{"QLinearMatMul", CountedFlops::How::product, 0, 3},
    CountedFlops{"FusedMatMul", CountedFlops::How::product},
    CountedFlops{"TransposeMatMul", CountedFlops::How::product},
    CountedFlops{"FusedMatMulActivation", CountedFlops::How::product},
    CountedFlops{"FusedGemm", CountedFlops::How::product},
    CountedFlops{"QGemm", CountedFlops::How::product, 0, 3},
    CountedFlops{"GemmFastGelu", CountedFlops::How::product},
    CountedFlops{"DynamicQuantizeMatMul", CountedFlops::How::product},
    CountedFlops{"MatMulIntegerToFloat", CountedFlops::How::product},
    CountedFlops{"MatMulNBits", CountedFlops::How::packed},
};

Flops count_known(const Shapes& shapes, const CountedFlops& found) {
  switch (found.how) {
    case CountedFlops::How::convolution: return convolution(shapes, found.b);
    case CountedFlops::How::transposed: return transposed_convolution(shapes);
    case CountedFlops::How::product: return matrix_product(shapes, found.a, found.b);
    case CountedFlops::How::packed: return packed_product(shapes);
  }
  return std::nullopt;
}

}  // namespace

std::string kind_of(const OnnxNode& node) {
  return node.domain.empty() ? std::string(node.op) : fmt::format("{}.{}", node.domain, node.op);
}

std::optional<double> count_flops(const OnnxGraph& graph, const OnnxNode& node, const OnnxTypes& types) {
  const Shapes shapes(node, types);
  if (node.holds_graph() || graph.functions.contains(fmt::format("{}.{}", node.domain, node.op))) return std::nullopt;
  const std::string kind = kind_of(node);
  if (kind == "Einsum") return einsum(shapes);
  if (kind == "LSTM" || kind == "GRU" || kind == "RNN") return recurrent(shapes);
  if (kind == "Attention") return standard_attention(shapes);
  if (kind == "com.microsoft.Attention") return attention_with_projection(shapes);
  if (kind == "com.microsoft.MultiHeadAttention") return multi_head_attention(shapes);
  if (kind.find("Attention") != std::string::npos || node.op == "DynamicQuantizeLSTM") return std::nullopt;
  const bool is_runtimes = node.domain.starts_with("com.microsoft") || node.domain.starts_with("com.ms.internal");
  const auto* const found = std::ranges::find(counted, node.op, &CountedFlops::op);
  if (found == counted.end() || (!node.domain.empty() && !is_runtimes)) return 0;
  return count_known(shapes, *found);
}

}  // namespace infermeter
