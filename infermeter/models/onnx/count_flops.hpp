// Floating-point operations of a node.
#pragma once

#include <optional>

#include "infermeter/models/onnx/infer_types.hpp"
#include "infermeter/models/onnx/onnx_graph.hpp"

namespace infermeter {

// "Conv", "com.microsoft.FusedConv".
[[nodiscard]] std::string kind_of(const OnnxNode& node);

// 2 per multiply-accumulate of convolutions, matrix products, attention and recurrent layers; 0 of all other operators
// (as the literature counts: He et al. 2016, without additions of bias and activation functions). nullopt: the shapes
// that it takes are not known, or the node runs a graph or a function of the model's own.
[[nodiscard]] std::optional<double> count_flops(const OnnxGraph& graph, const OnnxNode& node, const OnnxTypes& types);

}  // namespace infermeter
