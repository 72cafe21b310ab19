// The check of ONNX external data, made before any runtime sees the model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/models/onnx/onnx_summary.hpp"

namespace infermeter {

struct WeightFile {
  std::string path;
  std::uint64_t size_bytes = 0;
};

// The files that hold the tensors' data, each once. Refuses, naming tensor and location, whatever would leave the
// model's folder or not stay a plain read: absolute paths, '..', symbolic links anywhere on the way, FIFOs and devices,
// and what lies beyond a file's end.
[[nodiscard]] Result<std::vector<WeightFile>> check_external_data(const std::vector<OnnxSummary::External>& external,
                                                                  const std::filesystem::path& folder);

// The same of one file that belongs to a model whose format says its name.
[[nodiscard]] Result<WeightFile> check_weight_file(const std::string& name, const std::filesystem::path& folder);

}  // namespace infermeter
