// The profilers of Python code that run inside of this program, for a trial that it hosts.
#pragma once

#include <sys/types.h>

#include "infermeter/worker/profile/python_profile.hpp"

namespace infermeter::python {

inline constexpr pid_t in_this_process = 0;

// Called by the thread that holds the GIL. `launcher`: who may start something that looks at this process from outside.
[[nodiscard]] PythonProfileHooks profile_hooks(pid_t launcher);

}  // namespace infermeter::python
