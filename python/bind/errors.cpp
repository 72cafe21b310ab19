#include "python/bind/errors.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

const char* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::io: return "UsageError";
    case ErrorKind::model: return "ModelError";
    case ErrorKind::worker: return "WorkerError";
    case ErrorKind::internal: break;
  }
  return "InternalError";
}

}  // namespace

nb::object exception_of(const Error& error) {
  // A path in it need not be UTF-8: what cannot be decoded is shown as Python shows it in file names.
  const auto message = nb::steal(
      PyUnicode_DecodeUTF8(error.message.data(), static_cast<Py_ssize_t>(error.message.size()), "surrogateescape"));
  return nb::module_::import_("infermeter.errors").attr(class_of(error.kind))(message);
}

void raise(const Error& error) {
  const nb::object exception = exception_of(error);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

}  // namespace infermeter::python
