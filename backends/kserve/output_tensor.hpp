// The tensors of an answer, whichever protocol it came by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datatypes.hpp"
#include "sdk/port.hpp"

namespace infermeter {

// Throws Failure(IMB_BAD_ANSWER).
[[noreturn]] void refuse_answer(const std::string& why);

// One output as it was written, of which nothing is believed yet.
struct WrittenOutput {
  std::optional<std::string> name, datatype;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::uint64_t> binary_size;  // its elements are so many bytes
  bool has_data = false;                     // its elements are `numbers` or `strings`
  std::vector<JsonNumber> numbers;
  std::vector<std::string> strings;
};

struct OutputTensor {
  std::string name{};
  imb_dtype dtype = IMB_UNDEFINED;
  std::vector<std::int64_t> shape{};
  std::vector<std::uint64_t> storage{};  // the elements' bytes, aligned; none for strings
  std::size_t size_bytes = 0;
  std::vector<std::string> strings{};

  [[nodiscard]] const void* data() const { return storage.data(); }
};

// What was written, checked: every size against the shape before memory is taken for it. `rest`: binary elements, of
// which it takes its own from the beginning. Throws Failure(IMB_BAD_ANSWER) with what is wrong.
[[nodiscard]] OutputTensor output_tensor(WrittenOutput& written, std::string_view& rest);

// Puts them in the order of `ports`; an output of no port is left out. Throws Failure(IMB_BAD_ANSWER) where one is
// missing or is of another type or shape than was declared.
[[nodiscard]] std::vector<OutputTensor> as_declared(std::vector<OutputTensor> outputs,
                                                    std::span<const PortFields> ports);

// The most bytes that an answer with such outputs can have: 40 for each number of JSON, and 1 MiB for the rest; where a
// dimension is dynamic, or there are strings, 256 MiB.
[[nodiscard]] std::size_t largest_answer(std::span<const PortFields> ports);

}  // namespace infermeter
