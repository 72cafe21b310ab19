// The nodes of an ONNX file with the shapes of their tensors and their floating-point operations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/model_graph.hpp"

namespace infermeter {

// Shapes are ONNX's own inference, of the installed ONNX, after the inputs' dynamic dimensions have got their sizes as
// back ends give them: by place ("input.2"), by name ("height"), else `batch` for the first one; in that order. What a
// file says of its tensors' types is believed where inference says nothing. Weights are not read: only their names,
// shapes and types, and the values of small ones, which may be shapes. Errors, naming the file: it is not ONNX, is cut
// or damaged, or has more nodes or tensors than models have; a dimension's size is no number.
[[nodiscard]] Result<ModelGraph> read_model_graph(const std::filesystem::path& onnx_file, std::int64_t batch,
                                                  const Pairs& dimensions, const Pairs& batch_axes = {});

// A graph that a runtime wrote, which says all types itself: nothing is inferred, and symbols stay unknown sizes.
[[nodiscard]] Result<ModelGraph> read_graph_bytes(std::string_view onnx_bytes);

}  // namespace infermeter
