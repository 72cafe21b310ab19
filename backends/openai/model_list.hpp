// What a server says of its models: GET models.
#pragma once

#include <string>
#include <string_view>

namespace infermeter {

// Who serves `model` ("vllm"); empty: it does not say. Throws Failure(IMB_MODEL_ERROR): the list has others only.
[[nodiscard]] std::string owner_in(std::string_view body, const std::string& model);

}  // namespace infermeter
