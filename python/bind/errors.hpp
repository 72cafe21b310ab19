// Errors of the library as the exceptions of infermeter/errors.py.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter::python {

// UsageError, ModelError, WorkerError or InternalError, with the command line's sentence.
[[nodiscard]] nanobind::object exception_of(const Error& error);
[[noreturn]] void raise(const Error& error);

// With the GIL held.
template <class T>
T value_or_raise(Result<T>&& result) {
  if (!result.ok()) raise(result.error());
  return std::move(result).value();
}

}  // namespace infermeter::python
