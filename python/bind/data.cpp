// Inputs of subjects, for Python programs that want the same ones.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "infermeter/infermeter.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

using Declared = std::tuple<std::string, std::string, Shape>;  // name, dtype, shape

Port port_of(const Declared& declared) {
  const auto& [name, dtype_name, shape] = declared;
  const auto dtype = dtype_from_string(dtype_name);
  if (!dtype) raise(usage_error("'" + dtype_name + "' is not a type of elements"));
  Port port;
  port.name = name;
  port.dtype = *dtype;
  port.shape = shape;
  port.dimension_names.resize(shape.size());
  if (!shape.empty()) port.batch_axis = 0;
  return port;
}

// A copy: it is the caller's to change.
nb::object array_of(const Tensor& tensor) {
  const nb::object host = nb::module_::import_("infermeter._host");
  nb::list shape;
  for (const std::int64_t size : tensor.shape) shape.append(size);
  auto* const data = const_cast<char*>(reinterpret_cast<const char*>(tensor.data.data()));
  const nb::object memory =
      nb::steal(PyMemoryView_FromMemory(data, static_cast<Py_ssize_t>(tensor.data.size()), PyBUF_READ));
  return host.attr("array_of")(memory, std::string(to_string(tensor.dtype)), nb::tuple(shape)).attr("copy")();
}

nb::list make_arrays(const std::string& source, const std::vector<Declared>& inputs, std::int64_t limit,
                     std::uint64_t seed) {
  std::vector<Port> ports;
  for (const Declared& declared : inputs) ports.push_back(port_of(declared));
  DataOptions options{.source = source, .limit = limit, .seed = seed};
  if (!ports.empty() && !ports.front().shape.empty()) options.batch_size = ports.front().shape.front();
  const DataSet data = value_or_raise(make_data(options, ports));
  nb::list items;
  for (const DataItem& item : data.items) {
    nb::list arrays;
    for (const Value& value : item.inputs) arrays.append(array_of(value.tensor));
    items.append(nb::tuple(arrays));
  }
  return items;
}

}  // namespace

void bind_data(nb::module_& module) {
  module.def(
      "make_data", make_arrays, nb::arg("source"), nb::arg("inputs"), nb::kw_only(), nb::arg("limit") = 0,
      nb::arg("seed") = 1,
      nb::sig("def make_data(source: str, inputs: list[tuple[str, str, collections.abc.Sequence[int]]], *, limit: "
              "int = 0, seed: int = 1) -> list[tuple[numpy.typing.NDArray[typing.Any], ...]]"),
      "What subjects are run on: for each item of `source` an array per input (name, dtype, shape).");
}

}  // namespace infermeter::python
