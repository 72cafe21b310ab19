// What an ONNX file declares, as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

// What an ONNX file declares, read with bounds and without recursion; memory does not grow with what the file claims.
struct OnnxSummary {
  std::vector<Port> inputs, outputs;  // initialisers that are also inputs left out
  // Elements of float initialisers, and of integer ones that are quantised weights; not what quantisation adds (scales,
  // zero points), nor the running statistics of normalisations.
  std::uint64_t parameters = 0;
  // Of them. nullopt: it cannot be determined, as weights are in other files, or their zero need not be 0 (unsigned
  // ones).
  std::optional<std::uint64_t> nonzero_parameters = 0;
  std::uint64_t nodes = 0;
  std::int64_t ir_version = 0, opset = 0;
  struct External {
    std::string tensor, location;
    std::int64_t offset = 0, length = -1;  // -1: to the end of the file
  };
  std::vector<External> external;
};

}  // namespace infermeter
