// The back-end ABI around Python objects: the same trial code measures a Python callable as it measures a plug-in.
// Every call is made by the thread that holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "infermeter_backend.h"

namespace infermeter::python {

// The table. Its open_runtime calls what `set_opener` was given, with the library and the folder of imb_environment,
// and expects a Runtime of infermeter/backend.py.
[[nodiscard]] const imb_backend& backend();
void set_opener(nanobind::object opener);

// What a call into Python raised last, for who lets exceptions of live objects pass through; empty if nothing did.
[[nodiscard]] nanobind::object take_exception();

// Set when a signal's handler raised between two iterations (Ctrl-C): the exception waits for take_exception.
[[nodiscard]] bool interrupted();

}  // namespace infermeter::python
