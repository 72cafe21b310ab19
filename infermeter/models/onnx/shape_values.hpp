// Shapes that a graph computes as tensors, as x.view(x.size(0), -1) does: small integers, where all of them are known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/models/onnx/onnx_graph.hpp"

namespace infermeter {

// A scalar or a vector of int64, int32 or bool.
struct ShapeValue {
  DType dtype = DType::int64;
  bool is_scalar = false;
  std::vector<std::int64_t> values;
};
inline constexpr std::size_t kMostShapeValues = 1024;

// What a node other than Shape and Size makes of its inputs; nullptr: an input that is absent. nullopt: it is no such
// node, or its result is no such value.
[[nodiscard]] std::optional<ShapeValue> shape_value(const OnnxNode& node, std::span<const ShapeValue* const> inputs);

// Of Shape and Size, from their input's shape.
[[nodiscard]] std::optional<ShapeValue> shape_as_value(const OnnxNode& node, std::span<const std::int64_t> shape);

}  // namespace infermeter
