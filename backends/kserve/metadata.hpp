// What a server says of itself and of a model: GET v2, GET v2/models/NAME, and the same questions of gRPC.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/port.hpp"

namespace infermeter {

inline constexpr std::size_t longest_text = 200;  // bytes that are kept of what it says besides

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
// A port as a server reports it; `kind` is "input" or "output". Throws Failure: IMB_MODEL_ERROR for what is not what
// the protocol says, IMB_UNSUPPORTED for a type that it does not have.
[[nodiscard]] PortFields declared_port(const char* kind, std::string name, std::string_view datatype,
                                       std::vector<std::int64_t> shape);
// A first dimension that is dynamic in each input is named "batch"; in each output, too, if it is so in all of them.
// Throws Failure(IMB_MODEL_ERROR) where there are no inputs, or two of one name.
void check_model(ModelMetadata& metadata);

// Throws Failure as those do.
[[nodiscard]] ModelMetadata model_metadata_from(std::string_view body);

}  // namespace infermeter
