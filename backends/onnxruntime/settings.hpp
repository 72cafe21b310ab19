// The options of this back end.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sdk/options.hpp"

namespace infermeter {

// Where nothing is said, ONNX Runtime's own default holds, except for the number of threads.
struct Settings {
  std::string graph_optimization = "all";
  std::optional<bool> intra_op_spinning;
  bool cpu_mem_arena = true;
  bool mem_pattern = true;
  bool denormals_as_zero = false;
  bool parallel = false;
  int inter_op_threads = 1;
};

[[nodiscard]] std::span<const OptionRow<Settings>> option_rows();

}  // namespace infermeter
