// Where the worker program, the plug-ins and the runtimes are, for a program that runs in Python.
#pragma once

#include <filesystem>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter::python {

// find_launcher, but for the interpreter that calls: back ends written in Python run in it, and runtimes are first
// looked for among its packages. INFERMETER_PYTHON, where it is set, names another one.
[[nodiscard]] Result<Launcher> launcher_of_this_python(const std::filesystem::path& extra_plugins);

}  // namespace infermeter::python
