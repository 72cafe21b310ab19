#include "python/output_signature.hpp"

#include <fmt/format.h>

namespace nb = nanobind;

namespace infermeter::python {
namespace {

bool is_sequence(nb::handle value) { return PyTuple_Check(value.ptr()) != 0 || PyList_Check(value.ptr()) != 0; }

// Each element of a tuple or list, each value of a dict.
template <class Visit>
void for_each_element(nb::handle value, Visit&& visit) {
  if (PyDict_Check(value.ptr()) != 0) {
    PyObject *key = nullptr, *element = nullptr;
    for (Py_ssize_t place = 0; PyDict_Next(value.ptr(), &place, &key, &element) != 0;) visit(nb::handle(element));
  } else if (is_sequence(value)) {
    for (Py_ssize_t i = 0; i < PySequence_Size(value.ptr()); ++i)
      visit(nb::handle(PyTuple_Check(value.ptr()) != 0 ? PyTuple_GetItem(value.ptr(), i)
                                                       : PyList_GetItem(value.ptr(), i)));
  }
}

std::size_t count_of(nb::handle value) {
  if (PyDict_Check(value.ptr()) != 0) return static_cast<std::size_t>(PyDict_Size(value.ptr()));
  return is_sequence(value) ? static_cast<std::size_t>(PySequence_Size(value.ptr())) : 0;
}

nb::object attribute(nb::handle value, const char* name) {
  PyObject* const found = PyObject_GetAttrString(value.ptr(), name);
  if (found == nullptr) PyErr_Clear();
  return nb::steal(found);
}

bool equal(const nb::object& one, const nb::object& other) {
  if (!one.is_valid() || !other.is_valid()) return one.is_valid() == other.is_valid();
  if (one.is(other)) return true;
  const int same = PyObject_RichCompareBool(one.ptr(), other.ptr(), Py_EQ);
  if (same < 0) PyErr_Clear();
  return same == 1;
}

}  // namespace

OutputSignature::Part OutputSignature::part_of(nb::handle value) {
  Part part{.type = nb::borrow(value.type()), .shape = {}, .dtype = {}, .count = count_of(value)};
  if (is_sequence(value) || PyDict_Check(value.ptr()) != 0 || value.is_none()) return part;
  part.shape = attribute(value, "shape");
  if (part.shape.is_valid()) part.dtype = attribute(value, "dtype");
  return part;
}

std::string OutputSignature::text_of(const Part& part) {
  const std::string type = nb::str(part.type.attr("__name__")).c_str();
  if (!part.shape.is_valid()) return part.count > 0 ? fmt::format("{} of {}", type, part.count) : type;
  // A torch.Size is a tuple that prints as no other.
  const nb::object shape = nb::module_::import_("builtins").attr("tuple")(part.shape);
  return fmt::format("{} {} {}", type, part.dtype.is_valid() ? nb::str(part.dtype).c_str() : "",
                     nb::str(shape).c_str());
}

void OutputSignature::add(nb::handle value) {
  parts_.push_back(part_of(value));
  for_each_element(value, [this](nb::handle element) { add(element); });
}

bool OutputSignature::same(nb::handle value, std::size_t& index, std::string& change) const {
  const Part now = part_of(value);
  const Part& then = parts_[index++];
  const bool good =
      now.type.is(then.type) && now.count == then.count && equal(now.shape, then.shape) && equal(now.dtype, then.dtype);
  if (!good) {
    change = fmt::format("from {} to {}", text_of(then), text_of(now));
    return false;
  }
  bool all = true;
  for_each_element(value, [&](nb::handle element) { all = all && same(element, index, change); });
  return all;
}

std::string OutputSignature::change(nb::handle result) const {
  std::size_t index = 0;
  std::string change;
  static_cast<void>(same(result, index, change));
  return change;
}

}  // namespace infermeter::python
