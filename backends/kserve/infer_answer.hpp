// The body of the answer to an infer request over HTTP: tensors as JSON, or as bytes behind the JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "output_tensor.hpp"

namespace infermeter {

// `json_size`: of the JSON at the body's beginning; nullopt: the body is JSON as a whole. Every size is checked against
// the shape before memory is taken for it, so that an answer takes at most eight times its own size (numbers as JSON).
// Throws Failure(IMB_BAD_ANSWER) with what is wrong. `model_version`: takes that which has answered; empty: untold.
[[nodiscard]] std::vector<OutputTensor> outputs_from(std::string_view body, std::optional<std::size_t> json_size,
                                                     std::string* model_version = nullptr);

}  // namespace infermeter
