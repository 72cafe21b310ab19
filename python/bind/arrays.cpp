#include "python/bind/arrays.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>

#include "infermeter/data/dtype.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

nb::module_ numpy() { return nb::module_::import_("numpy"); }

// A tensor of PyTorch in a form that NumPy takes: off its device and its graph; in bytes where NumPy lacks its type.
nb::object without_torch(nb::handle given) {
  if (!nb::hasattr(given, "detach") || !nb::hasattr(given, "cpu")) return nb::borrow(given);
  const nb::object tensor = given.attr("detach")().attr("cpu")();
  const auto name = nb::cast<std::string>(tensor.attr("dtype").attr("__str__")());
  if (nb::hasattr(numpy(), name.substr(name.rfind('.') + 1).c_str())) return tensor;
  return nb::module_::import_("infermeter.torch_arrays").attr("array_of")(nb::module_::import_("torch"), tensor);
}

// numpy's and ml_dtypes' names. Types below 8 bits lie there a byte each, here packed.
std::optional<DType> dtype_of(const std::string& name) {
  std::string ours = name;
  std::erase(ours, '_');
  const auto dtype = dtype_from_string(ours);
  return dtype && bits_of(*dtype) >= 8 ? dtype : std::nullopt;
}

Error no_tensor(const std::string& what, const std::string& dtype) {
  return usage_error(fmt::format(
      "{}: an array of {} cannot be compared; give numbers, booleans or strings (array.astype(\"float64\"))", what,
      dtype));
}

// Strings, and objects that are all strings.
Result<Done> add_strings(ArrayValues& target, const nb::object& array, Shape shape, const std::string& what) {
  Value value;
  value.tensor.dtype = DType::string;
  value.tensor.shape = std::move(shape);
  for (nb::handle element : nb::list(array.attr("ravel")().attr("tolist")())) {
    if (!PyUnicode_Check(element.ptr())) return no_tensor(what, "Python objects");
    value.tensor.strings.emplace_back(nb::cast<std::string>(element));
  }
  target.values.push_back(std::move(value));
  return Done{};
}

}  // namespace

Result<Done> add_array(ArrayValues& target, nb::handle given, const std::string& what) {
  nb::object array = numpy().attr("asarray")(without_torch(given), nb::arg("order") = "C");
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  auto shape = nb::cast<Shape>(array.attr("shape"));
  if (kind == "U" || kind == "T" || kind == "O") return add_strings(target, array, std::move(shape), what);
  if (!nb::cast<bool>(array.attr("dtype").attr("isnative"))) {
    array = array.attr("astype")(array.attr("dtype").attr("newbyteorder")("="));
  }
  const auto name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  const auto dtype = dtype_of(name);
  if (!dtype) return no_tensor(what, name);
  const auto address = nb::cast<std::uintptr_t>(array.attr("ctypes").attr("data"));
  const auto size = nb::cast<std::size_t>(array.attr("nbytes"));
  Value value;
  value.tensor.dtype = *dtype;
  value.tensor.shape = std::move(shape);
  value.tensor.data = Bytes::view({reinterpret_cast<const std::byte*>(address), size}, nullptr);
  target.values.push_back(std::move(value));
  target.arrays.push_back(std::move(array));
  return Done{};
}

}  // namespace infermeter::python
