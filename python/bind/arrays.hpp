// NumPy arrays as tensors.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter::python {

// Values that view the memory of arrays, which stay alive with them.
struct ArrayValues {
  ItemValues values;
  std::vector<nanobind::object> arrays;
};

// What numpy.asarray takes is taken; bytes are copied only where an array is not C-contiguous or not of this machine's
// byte order. `what` names the array in messages: "reference 'logits'".
[[nodiscard]] Result<Done> add_array(ArrayValues& target, nanobind::handle array, const std::string& what);

}  // namespace infermeter::python
