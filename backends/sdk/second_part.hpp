// A back end in two parts: the plug-in, which finds its runtime when it runs, and a library beside it that was built
// against one version of the runtime's C++ and is opened only where that is the one found.
#pragma once

#include <dlfcn.h>

#include <string>

namespace infermeter {

struct SecondPart {
  void* handle = nullptr;
  std::string reason;  // why there is none
};

// `address`: anything in the plug-in, beside which the library lies. RTLD_LOCAL serves: what needs the runtime's
// symbols names its libraries, and the loader knows these as open.
inline SecondPart open_beside(const void* address, const std::string& name) {
  Dl_info info{};
  const bool found = dladdr(address, &info) != 0 && info.dli_fname != nullptr;
  const std::string file = found ? info.dli_fname : "./";
  const std::string path = file.substr(0, file.rfind('/') + 1) + name;
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return {.handle = handle, .reason = ""};
  const char* const reason = dlerror();
  return {.handle = nullptr, .reason = reason != nullptr ? reason : "unknown reason"};
}

}  // namespace infermeter
