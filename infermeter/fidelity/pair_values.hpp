// The tensors of two values, side by side.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

struct TensorPair {
  const Tensor* reference = nullptr;
  const Tensor* candidate = nullptr;
  std::size_t item = 0;
};

// Adds the pairs of two values of data item `item`. Returns why they cannot be compared, in words that follow the
// output's name ("has shape …"), or an empty text.
[[nodiscard]] std::string pair_values(const Value& reference, const Value& candidate, std::size_t item,
                                      std::vector<TensorPair>& pairs);

}  // namespace infermeter
