// Types and shapes of a graph's tensors, by ONNX's own shape inference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/models/onnx/onnx_graph.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

struct OnnxType {
  DType dtype = DType::undefined;
  std::optional<std::vector<std::int64_t>> shape;  // nullopt: not known, or not all of its dimensions
};
using OnnxTypes = std::unordered_map<std::string, OnnxType>;  // by tensor

// Gives the inputs' dynamic dimensions their sizes, and dimensions of the same name everywhere: those of `dimensions`,
// and `batch` to the batch axes (data/batch_axis.hpp; 0: they stay as they are). Errors: a size is none; which
// dimension is the batch is not clear.
[[nodiscard]] Result<Done> fix_dimensions(OnnxGraph& graph, std::int64_t batch, const Pairs& dimensions,
                                          const Pairs& batch_axes);

// The same of the inputs alone, with the batch axes marked; the batch axis keeps its size, and so does what
// `dimensions` does not name. Errors: which dimension is the batch is not clear.
[[nodiscard]] Result<Done> fix_dimensions(std::vector<Port>& inputs, const Pairs& dimensions, const Pairs& batch_axes);

// "input.0": what names any dimension of an input, also one without a name.
[[nodiscard]] std::string place_of(const Port& input, std::size_t axis);

// What the file says itself, of inputs, weights, outputs and intermediate tensors.
[[nodiscard]] OnnxTypes declared_types(const OnnxGraph& graph);

// With what ONNX infers, a node at a time and without its weights. What it does not know, or does not infer safely, has
// the type that the file declares, or none.
[[nodiscard]] OnnxTypes inferred_types(const OnnxGraph& graph);

}  // namespace infermeter
