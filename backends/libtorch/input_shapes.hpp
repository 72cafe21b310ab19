// The option input_shape: "1x3x224x224", "2x8:int64;2x8:int64". The first dimension is the batch.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "infermeter_backend.h"

namespace infermeter {

struct InputShape {
  std::vector<std::int64_t> sizes;  // at least one
  imb_dtype dtype = IMB_FLOAT32;
};

// Throws std::invalid_argument with why.
[[nodiscard]] std::vector<InputShape> parse_input_shapes(std::string_view text);

}  // namespace infermeter
