// What an AOTInductor package says of its inputs. It keeps the C++ text that was compiled, with checks of the inputs
// that are not done unless a variable asks for them: without them, an input of another shape is read beyond its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "infermeter_backend.h"

namespace infermeter {

struct CompiledDimension {
  std::optional<std::int64_t> size;  // none: dynamic, then from `lowest` to `highest`
  std::int64_t lowest = 0;
  std::int64_t highest = INT64_MAX;
  std::optional<std::int64_t> stride;
};

struct CompiledInput {
  imb_dtype dtype = IMB_UNDEFINED;
  std::vector<CompiledDimension> dimensions;
};

// In the order of the inputs; empty if the text does not say.
[[nodiscard]] std::vector<CompiledInput> compiled_inputs(std::string_view text);
// The number of threads that parallel loops were compiled for; none: they take what is set.
[[nodiscard]] std::optional<int> compiled_threads(std::string_view text);
// Leaves of a tree of inputs or outputs, as the package describes it (JSON).
[[nodiscard]] std::size_t leaf_count(std::string_view call_spec);

}  // namespace infermeter
