// An ONNX model -> a file: whole, or not at all.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <functional>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Writes into a new file beside `file`, flushes it to the disk, lets `check` look at it and gives it its name. On any
// error nothing is left behind, and what `file` was before is still there.
[[nodiscard]] Result<Done> write_model(const onnx::ModelProto& model, const std::filesystem::path& file,
                                       const std::function<Result<Done>(const std::filesystem::path&)>& check);

}  // namespace infermeter
