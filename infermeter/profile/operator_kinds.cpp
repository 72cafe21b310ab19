#include "infermeter/profile/operator_kinds.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace infermeter {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// ONNX Runtime's and OpenVINO's words.
constexpr std::array<Pair, 29> plain_kinds = {{
    {"BatchedMatMul", "MatMul"},
    {"BinaryConvolution", "Conv"},
    {"ConvInteger", "Conv"},
    {"Convert", "Cast"},
    {"Convolution", "Conv"},
    {"ConvolutionBackpropData", "ConvTranspose"},
    {"Deconvolution", "ConvTranspose"},
    {"DynamicQuantizeMatMul", "MatMul"},
    {"FullyConnected", "MatMul"},
    {"FusedConv", "Conv"},
    {"FusedGemm", "Gemm"},
    {"FusedMatMul", "MatMul"},
    {"GroupConvolution", "Conv"},
    {"MatMulInteger", "MatMul"},
    {"MatMulIntegerToFloat", "MatMul"},
    {"MatMulNBits", "MatMul"},
    {"NhwcConv", "Conv"},
    {"NhwcFusedConv", "Conv"},
    {"NhwcMaxPool", "MaxPool"},
    {"QGemm", "Gemm"},
    {"QLinearConv", "Conv"},
    {"QLinearMatMul", "MatMul"},
    {"ReorderInput", "Reorder"},
    {"ReorderOutput", "Reorder"},
    {"SoftMax", "Softmax"},
    {"TransposeMatMul", "MatMul"},
    {"VariadicSplit", "Split"},
    {"addmm", "Gemm"},
    {"convolution", "Conv"},
}};

constexpr std::array<std::string_view, 4> heavy = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
constexpr std::array<std::string_view, 4> composite = {"Attention", "MHA", "Subgraph", "Fusion"};
constexpr std::array<std::string_view, 12> movement = {
    "Cast",    "CastLike",       "Flatten", "Identity",  "MemcpyFromHost", "MemcpyToHost",
    "Reorder", "NhwcToNchw", "Reshape", "Squeeze", "Transpose",      "Unsqueeze",
};

std::string_view without_domain(std::string_view kind) {
  return kind.substr(kind.rfind('.') == std::string_view::npos ? 0 : kind.rfind('.') + 1);
}

bool among(const auto& kinds, std::string_view kind) {
  return std::ranges::find(kinds, plain_kind(kind)) != kinds.end();
}

}  // namespace

std::string plain_kind(std::string_view kind) {
  const std::string_view name = without_domain(kind);
  const auto* const found = std::ranges::find(plain_kinds, name, &Pair::first);
  return std::string(found == plain_kinds.end() ? name : found->second);
}

bool is_heavy_kind(std::string_view kind) { return among(heavy, kind); }

bool is_composite_kind(std::string_view kind) {
  return std::ranges::any_of(composite, [&](std::string_view part) { return kind.find(part) != kind.npos; });
}

bool is_movement_kind(std::string_view kind) { return among(movement, kind); }

}  // namespace infermeter
