// The zoo: models that we write ourselves, with seeded weights: as ONNX, and language models as a folder in Hugging
// Face's form. The same bytes on every machine.
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
  std::string_view sha256;           // of what `build_zoo_model` writes; of a folder as resolve_model has it
  std::uint64_t size_bytes;          // of it all
  std::string_view format = "onnx";  // or kFolderFormat (plan/subject.hpp)
};

[[nodiscard]] std::span<const ZooModel> zoo();

// Writes the model (temporary file, fsync, rename), having compared its SHA-256 with the table; a language model's
// files into the folder `file`, which is made. Not 0 in `interrupt`, looked at between the steps: an error, and no
// file.
[[nodiscard]] Result<Done> build_zoo_model(std::string_view name, const std::filesystem::path& file,
                                           const std::atomic<int>* interrupt = nullptr);

// The file of a zoo model in `cache`, of a language model its config.json: built if it is not there or has not the size
// it should have. Processes that want the same one build it once.
[[nodiscard]] Result<std::filesystem::path> cached_zoo_model(std::string_view name, const std::filesystem::path& cache);

}  // namespace infermeter
