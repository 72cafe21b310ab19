#pragma once

#include <cstdint>
#include <optional>
#include <protozero/data_view.hpp>

#include "infermeter/models/resolve.hpp"

namespace infermeter {

// What a TensorProto says of itself; its bytes are not looked at.
struct OnnxTensor {
  protozero::data_view name;
  bool is_float = false;
  std::uint64_t elements = 1;
  std::optional<OnnxSummary::External> external;
};

// Throws protozero's exceptions, or a Refused.
[[nodiscard]] OnnxTensor read_onnx_tensor(protozero::data_view tensor);

}  // namespace infermeter
