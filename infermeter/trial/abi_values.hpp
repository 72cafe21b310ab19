// Values as the back-end ABI has them, and back.
#pragma once

#include <deque>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter_backend.h"

namespace infermeter {

// A view of a Value, which must outlive it and stay where it is.
class AbiValue {
 public:
  explicit AbiValue(const Value& value) : view_(view_of(value)) {}
  AbiValue(AbiValue&&) = default;
  AbiValue& operator=(AbiValue&&) = default;
  [[nodiscard]] const imb_value& view() const { return view_; }

 private:
  [[nodiscard]] imb_value view_of(const Value& value);
  [[nodiscard]] imb_value view_of(const Tensor& tensor);

  // Deques: what is in them stays where it is when they grow or are moved.
  std::deque<std::vector<const char*>> strings_;
  std::deque<std::vector<std::size_t>> sizes_;
  std::deque<std::vector<imb_value>> elements_;
  imb_value view_;
};

// Copies what a back end shows. Its word is not taken for sizes: bytes, shape and type must agree.
[[nodiscard]] Result<Value> value_from_abi(const imb_value& value);
[[nodiscard]] Port port_from_abi(const imb_port& port);

}  // namespace infermeter
