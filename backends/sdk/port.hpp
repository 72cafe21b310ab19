// An input or output that owns what its imb_port points to, and what may be bound to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"
#include "sdk/elements.hpp"

namespace infermeter {

struct PortFields {
  std::string name;
  imb_kind kind = IMB_TENSOR;
  bool is_optional = false;
  imb_dtype dtype = IMB_UNDEFINED;
  bool rank_known = true;
  std::vector<std::int64_t> shape;           // -1: dynamic
  std::vector<std::string> dimension_names;  // as many as dimensions
};

class Port {
 public:
  explicit Port(PortFields fields) : fields_(std::move(fields)) {
    for (const std::string& name : fields_.dimension_names) names_.push_back(name.c_str());
    view_ = {.name = fields_.name.c_str(),
             .kind = fields_.kind,
             .is_optional = fields_.is_optional ? 1 : 0,
             .dtype = fields_.dtype,
             .rank_known = fields_.rank_known ? 1 : 0,
             .rank = fields_.shape.size(),
             .shape = fields_.shape.data(),
             .dimension_names = names_.data()};
  }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  ~Port() = default;

  [[nodiscard]] const PortFields& fields() const { return fields_; }
  [[nodiscard]] const imb_port* view() const { return &view_; }

 private:
  PortFields fields_;
  std::vector<const char*> names_;
  imb_port view_{};
};

inline bool shape_fits(const PortFields& port, std::span<const std::int64_t> shape) {
  if (!port.rank_known) return true;
  if (port.shape.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0 || (port.shape[i] >= 0 && port.shape[i] != shape[i])) return false;
  }
  return true;
}

// Refuses a tensor that does not fit: which input, wanted, got.
inline void check_tensor(const PortFields& port, const imb_value& value) {
  const std::string input = "input '" + port.name + "' ";
  if (value.dtype != port.dtype) {
    fail(IMB_INVALID_ARGUMENT,
         input + "needs " + std::string(name_of(port.dtype)) + " and was given " + std::string(name_of(value.dtype)));
  }
  const std::span shape(value.shape, value.rank);
  if (!shape_fits(port, shape)) {
    fail(IMB_INVALID_ARGUMENT, input + "needs shape " + shape_text(port.shape) + " and was given " + shape_text(shape));
  }
  if (value.dtype == IMB_STRING) return;
  const auto bytes = bytes_of(value.dtype, shape);
  if (!bytes || *bytes != value.size_bytes || (*bytes != 0 && value.data == nullptr)) {
    fail(IMB_INVALID_ARGUMENT, input + "of shape " + shape_text(shape) + " needs " +
                                   (bytes ? std::to_string(*bytes) : "an impossible number of") +
                                   " bytes and was given " + std::to_string(value.size_bytes));
  }
}

}  // namespace infermeter
