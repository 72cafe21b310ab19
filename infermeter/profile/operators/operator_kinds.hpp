// What runtimes' words for kinds of operators mean. Kinds that are not listed are taken at their word.
#pragma once

#include <string>
#include <string_view>

namespace infermeter {

// One name for one thing: "Convolution" and "FusedConv" are "Conv", "FullyConnected" is "MatMul".
[[nodiscard]] std::string plain_kind(std::string_view kind);

// One convolution or matrix product, whatever was fused into it.
[[nodiscard]] bool is_heavy_kind(std::string_view kind);

// Attention, or what a runtime generates code for: any number of products.
[[nodiscard]] bool is_composite_kind(std::string_view kind);

// Moves or converts values and computes nothing: "Reorder", "Transpose", "Cast".
[[nodiscard]] bool is_movement_kind(std::string_view kind);

}  // namespace infermeter
