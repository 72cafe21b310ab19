// What a server says of itself and of a model: GET v2, GET v2/models/NAME.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sdk/port.hpp"

namespace infermeter {

struct ServerMetadata {
  std::string name{}, version{};
  bool takes_binary_tensors = false;  // says that it has the protocol's extension for them
};
// Throws Failure(IMB_RUN_ERROR).
[[nodiscard]] ServerMetadata server_metadata_from(std::string_view body);

struct ModelMetadata {
  std::string platform{};
  std::vector<std::string> versions{};
  std::vector<PortFields> inputs{}, outputs{};  // outputs may be undeclared: none
};
// A first dimension that is dynamic in each input is the batch; in each output, too, if it is so in all of them. Throws
// Failure: IMB_MODEL_ERROR for what is not what the protocol says, IMB_UNSUPPORTED for a type that it does not have.
[[nodiscard]] ModelMetadata model_metadata_from(std::string_view body);

}  // namespace infermeter
