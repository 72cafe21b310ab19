// The body of POST v2/models/NAME/infer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sdk/port.hpp"

namespace infermeter {

// An input as it stands in a request: `head` is JSON without its last brace, `bytes` what follows the JSON (binary).
struct EncodedInput {
  std::string head{}, bytes{};
  bool is_bound = false;
};

// Throws Failure(IMB_INVALID_ARGUMENT) for values that do not fit the port, or that JSON cannot carry.
[[nodiscard]] EncodedInput encode_input(const PortFields& port, const imb_value& value, bool binary);

struct RequestBody {
  std::string bytes{};
  std::size_t json_size = 0;  // of the JSON at its beginning; less than all of it where tensors follow
};
// `outputs`: those to be sent as binary tensors; empty: JSON, or what the server likes.
[[nodiscard]] RequestBody request_body(std::span<const EncodedInput> inputs, std::span<const std::string> outputs,
                                       bool binary);

}  // namespace infermeter
