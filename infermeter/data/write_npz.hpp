// Tensors -> a .npz file, as numpy.load reads it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

// `arrays`: names without ".npy", each once. Refuses types that NumPy does not have (bfloat16, 8-bit floats, 4-bit
// integers) and strings. Nothing is compressed: the same arrays give the same bytes.
[[nodiscard]] Result<Done> write_npz(const std::string& path,
                                     const std::vector<std::pair<std::string, Tensor>>& arrays);

}  // namespace infermeter
