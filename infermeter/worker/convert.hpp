// A model of the zoo in the form that a back end reads, where that is not the zoo's own: infermeter_make_<name>.py,
// beside the back end, makes it once (make_model.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/make_model.hpp"

namespace infermeter {

struct Conversion {
  std::string backend, zoo_name;
  std::filesystem::path model_file;  // ONNX; of a language model its config.json
  std::int64_t batch_size = 1;
};

// The file in `cache`, made if it is not there; of a language model the config.json of another folder. Nothing: this
// back end needs none.
[[nodiscard]] Result<std::optional<std::filesystem::path>> converted_model(const Launcher& launcher,
                                                                           const Conversion& wanted,
                                                                           const std::filesystem::path& cache,
                                                                           const MakingLimits& limits = {});

}  // namespace infermeter
