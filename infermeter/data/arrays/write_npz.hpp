// Tensors -> a .npz file, as numpy.load reads it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

// `arrays`: names without ".npy", each once; types as write_npy (npy.hpp) has them. Nothing is compressed: the same
// arrays give the same bytes.
[[nodiscard]] Result<Done> write_npz(const std::string& path,
                                     const std::vector<std::pair<std::string, Tensor>>& arrays);

}  // namespace infermeter
