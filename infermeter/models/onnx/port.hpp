#pragma once

#include <protozero/data_view.hpp>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

// A ValueInfoProto as a Port. Throws protozero's exceptions, or a Refused, on damage.
[[nodiscard]] Port read_onnx_port(protozero::data_view value_info);

// What is wrong with a model file, thrown inside the reader of ONNX and turned into an Error at its edge, as
// protozero's own exceptions are.
struct Refused {
  std::string why;
};

}  // namespace infermeter
