#pragma once

#include <cstdint>
#include <optional>
#include <protozero/data_view.hpp>

#include "infermeter/data/dtype.hpp"
#include "infermeter/models/onnx/onnx_summary.hpp"

namespace infermeter {

// What a TensorProto says of itself.
struct OnnxTensor {
  protozero::data_view name;
  bool is_float = false;
  DType dtype = DType::undefined;
  std::uint64_t elements = 1;
  std::optional<OnnxSummary::External> external;
};

// Throws protozero's exceptions, or a Refused.
[[nodiscard]] OnnxTensor read_onnx_tensor(protozero::data_view tensor);

// How many of its elements are not 0 (-0 is), from its bytes, which are read once. nullopt: they are in another file,
// or not as many as its dimensions say. Of 4-bit types those in raw_data only.
[[nodiscard]] std::optional<std::uint64_t> count_nonzero(protozero::data_view tensor, const OnnxTensor& facts);

}  // namespace infermeter
