// Reads what an ONNX file declares.
#pragma once

#include <filesystem>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/models/onnx/onnx_summary.hpp"

namespace infermeter {

[[nodiscard]] Result<OnnxSummary> read_onnx_summary(const std::filesystem::path& file);

// Of them the inputs and outputs alone, as quick for large files as for small ones.
struct OnnxPorts {
  std::vector<Port> inputs, outputs;
};
[[nodiscard]] Result<OnnxPorts> read_onnx_ports(const std::filesystem::path& file);

}  // namespace infermeter
