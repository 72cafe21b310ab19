// Element types and tensors, from and to PyTorch's.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdk/port.hpp"

namespace infermeter {

[[nodiscard]] std::optional<imb_dtype> dtype_from(at::ScalarType type);
[[nodiscard]] std::optional<at::ScalarType> scalar_type_from(imb_dtype dtype);

// A tensor of the input's bytes in PyTorch's own memory (a program may write into its inputs, and the host's bytes are
// read-only), on the device; float32 becomes `precision`. Throws Failure naming the input, what it wants and what it
// was given.
[[nodiscard]] at::Tensor make_tensor(const PortFields& port, const imb_value& value, at::Device device,
                                     at::ScalarType precision);

// A view of an output, which it keeps.
class TensorView {
 public:
  TensorView(const at::Tensor& tensor, const std::string& output);
  [[nodiscard]] const imb_value& view() const { return view_; }

 private:
  at::Tensor tensor_;  // in the processor's memory, row by row
  imb_value view_{};
};

}  // namespace infermeter
