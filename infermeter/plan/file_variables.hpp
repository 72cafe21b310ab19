// Environment variables that a file may set: a plan, a gate or study file, the plan of a stored run. Files are data,
// and many variables make a library load code or read and write files (OMP_TOOL_LIBRARIES, CUDA_INJECTION64_PATH,
// XLA_FLAGS, LD_PRELOAD, …). So a list says what they may, and everything else is for the command line.
#pragma once

#include <string_view>

namespace infermeter {

[[nodiscard]] bool may_come_from_file(std::string_view variable);

}  // namespace infermeter
