// The body of the answer to an infer request: tensors as JSON, or as bytes behind the JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/port.hpp"

namespace infermeter {

struct OutputTensor {
  std::string name{};
  imb_dtype dtype = IMB_UNDEFINED;
  std::vector<std::int64_t> shape{};
  std::vector<std::uint64_t> storage{};  // the elements' bytes, aligned; none for strings
  std::size_t size_bytes = 0;
  std::vector<std::string> strings{};

  [[nodiscard]] const void* data() const { return storage.data(); }
};

// `json_size`: of the JSON at the body's beginning; nullopt: the body is JSON as a whole. Every size is checked against
// the shape before memory is taken for it, so that an answer takes at most eight times its own size (numbers as JSON).
// Throws Failure(IMB_BAD_ANSWER) with what is wrong. `model_version`: takes that which has answered; empty: untold.
[[nodiscard]] std::vector<OutputTensor> outputs_from(std::string_view body, std::optional<std::size_t> json_size,
                                                     std::string* model_version = nullptr);

// Puts them in the order of `ports`; an output of no port is left out. Throws Failure(IMB_BAD_ANSWER) where one is
// missing or is of another type or shape than was declared.
[[nodiscard]] std::vector<OutputTensor> as_declared(std::vector<OutputTensor> outputs,
                                                    std::span<const PortFields> ports);

// The most bytes that an answer with such outputs can have: 40 for each number of JSON, and 1 MiB for the rest; where a
// dimension is dynamic, or there are strings, 256 MiB.
[[nodiscard]] std::size_t largest_answer(std::span<const PortFields> ports);

}  // namespace infermeter
