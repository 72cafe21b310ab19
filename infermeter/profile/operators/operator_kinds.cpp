#include "infermeter/profile/operators/operator_kinds.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace infermeter {
namespace {

using KindPair = std::pair<std::string_view, std::string_view>;

// Of ONNX Runtime, OpenVINO, LiteRT and XNNPACK.
constexpr std::array<KindPair, 52> plain_kinds = {{
    {"ADD", "Add"},
    {"AVERAGE_POOL_2D", "AveragePool"},
    {"Average Pooling", "AveragePool"},
    {"BATCH_MATMUL", "MatMul"},
    {"Batch Matrix Multiply", "MatMul"},
    {"BatchedMatMul", "MatMul"},
    {"BinaryConvolution", "Conv"},
    {"CAST", "Cast"},
    {"CONV_2D", "Conv"},
    {"Constant Pad", "Pad"},
    {"ConvInteger", "Conv"},
    {"Convert", "Cast"},
    {"Convolution", "Conv"},
    {"ConvolutionBackpropData", "ConvTranspose"},
    {"Copy", "Identity"},
    {"DEPTHWISE_CONV_2D", "Conv"},
    {"Deconvolution", "ConvTranspose"},
    {"Dynamic Fully Connected", "MatMul"},
    {"DynamicQuantizeMatMul", "MatMul"},
    {"FULLY_CONNECTED", "MatMul"},
    {"Fully Connected", "MatMul"},
    {"FullyConnected", "MatMul"},
    {"FusedConv", "Conv"},
    {"FusedGemm", "Gemm"},
    {"FusedMatMul", "MatMul"},
    {"GELU", "Gelu"},
    {"GroupConvolution", "Conv"},
    {"MAX_POOL_2D", "MaxPool"},
    {"MUL", "Mul"},
    {"MatMulInteger", "MatMul"},
    {"MatMulIntegerToFloat", "MatMul"},
    {"MatMulNBits", "MatMul"},
    {"Max Pooling", "MaxPool"},
    {"NhwcConv", "Conv"},
    {"NhwcFusedConv", "Conv"},
    {"NhwcMaxPool", "MaxPool"},
    {"PAD", "Pad"},
    {"QGemm", "Gemm"},
    {"QLinearConv", "Conv"},
    {"QLinearMatMul", "MatMul"},
    {"RESHAPE", "Reshape"},
    {"ReorderInput", "Reorder"},
    {"ReorderOutput", "Reorder"},
    {"SOFTMAX", "Softmax"},
    {"SUB", "Sub"},
    {"SoftMax", "Softmax"},
    {"TRANSPOSE", "Transpose"},
    {"TRANSPOSE_CONV", "ConvTranspose"},
    {"TransposeMatMul", "MatMul"},
    {"VariadicSplit", "Split"},
    {"addmm", "Gemm"},
    {"convolution", "Conv"},
}};

constexpr std::array<std::string_view, 4> heavy = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
constexpr std::array<std::string_view, 4> composite = {"Attention", "MHA", "Subgraph", "Fusion"};
constexpr std::array<std::string_view, 12> movement = {
    "Cast",    "CastLike",   "Flatten", "Identity", "MemcpyFromHost", "MemcpyToHost",
    "Reorder", "NhwcToNchw", "Reshape", "Squeeze",  "Transpose",      "Unsqueeze",
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
  const auto* const found = std::ranges::find(plain_kinds, name, &KindPair::first);
  return std::string(found == plain_kinds.end() ? name : found->second);
}

bool is_heavy_kind(std::string_view kind) { return among(heavy, kind); }

bool is_composite_kind(std::string_view kind) {
  return std::ranges::any_of(composite, [&](std::string_view part) { return kind.find(part) != kind.npos; });
}

bool is_movement_kind(std::string_view kind) { return among(movement, kind); }

}  // namespace infermeter
