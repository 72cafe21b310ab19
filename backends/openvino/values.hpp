// Element types and tensors, from and to OpenVINO's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "library.hpp"
#include "sdk/port.hpp"

namespace infermeter {

// None: a type that the other side does not have.
[[nodiscard]] std::optional<imb_dtype> dtype_from(ov_element_type_e type);
[[nodiscard]] std::optional<ov_element_type_e> element_type_from(imb_dtype dtype);

// The bytes stay the caller's (zero copy). Throws Failure naming the input, what it wants and what it was given.
[[nodiscard]] Owned<ov_tensor_t> make_tensor(const Api& api, const PortFields& port, const imb_value& value);

// A view of an output; valid as long as this lives and the request does not run.
class TensorView {
 public:
  TensorView(const Api& api, Owned<ov_tensor_t> tensor, const std::string& output);
  [[nodiscard]] const imb_value& view() const { return view_; }

 private:
  Owned<ov_tensor_t> tensor_;
  std::vector<std::int64_t> shape_;
  imb_value view_{};
};

}  // namespace infermeter
