// The zoo: models that we write ourselves, as ONNX with seeded weights. The same bytes on every machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct ZooModel {
  std::string_view name;         // "resnet50"
  std::string_view description;  // one line
  std::string_view input_shape;  // "batch x 3 x 224 x 224"
  std::uint64_t parameters;
  std::uint64_t nonzero_parameters;  // of them
  std::string_view sha256;           // of the file that `build_zoo_model` writes
  std::uint64_t size_bytes;          // its size
};

[[nodiscard]] std::span<const ZooModel> zoo();

// Writes the model (temporary file, fsync, rename), having compared its SHA-256 with the table. Not 0 in `interrupt`,
// looked at between the steps: an error, and no file.
[[nodiscard]] Result<Done> build_zoo_model(std::string_view name, const std::filesystem::path& file,
                                           const std::atomic<int>* interrupt = nullptr);

// The file of a zoo model in `cache`: built if it is not there or has not the size it should have. Processes that want
// the same one build it once.
[[nodiscard]] Result<std::filesystem::path> cached_zoo_model(std::string_view name, const std::filesystem::path& cache);

}  // namespace infermeter
