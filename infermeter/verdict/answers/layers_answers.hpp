// Where two subjects part along the graph, if they do.
#pragma once

#include <cstddef>
#include <optional>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/layers_record.hpp"

namespace infermeter {

// Its place: the tensor, in growth.tensors.
[[nodiscard]] Answer layers_answer(const LayerGrowth& growth);

// Of the matched ones.
[[nodiscard]] std::size_t compared_tensors(const LayerGrowth& growth);

// The matched tensor with the largest finite error; nullopt where there is none.
[[nodiscard]] std::optional<std::size_t> worst_tensor(const LayerGrowth& growth);

}  // namespace infermeter
