// PyTorch's libraries, found and opened when the plug-in runs, and the plug-in's second part.
#pragma once

#include <string>

#include "infermeter_backend.h"

namespace infermeter {

struct Libtorch {
  std::string path;                   // of libtorch_cpu.so
  const imb_backend* part = nullptr;  // what the second part does
};

// Throws Failure: not found, another version than this back end was built with, another one is open in this process.
[[nodiscard]] Libtorch open_libtorch(const imb_environment& environment);

}  // namespace infermeter
