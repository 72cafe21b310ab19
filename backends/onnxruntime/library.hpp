// ONNX Runtime's C API, taken from the library that is found when the plug-in runs.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>
#include <vector>

#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"

namespace infermeter {

// The lowest API number that has all that is used here (optional values: 15), with some distance; any later library
// serves.
inline constexpr std::uint32_t needed_api = 17;

struct Library {
  std::string path, version;
  const OrtApi* api = nullptr;
};

// Throws Failure: missing, or too old.
[[nodiscard]] Library open_onnxruntime(const imb_environment& environment);

// Throws the runtime's own words as a Failure; `otherwise` unless they speak of memory.
void check(const OrtApi& api, OrtStatus* status, imb_status otherwise, const std::string& what);

[[nodiscard]] std::vector<std::string> available_providers(const OrtApi& api);

// unique_ptr for what the C API hands out: `Owned<OrtValue> value(nullptr, {api.ReleaseValue});`
template <class T>
struct Releaser {
  void(ORT_API_CALL* release)(T*) = nullptr;
  void operator()(T* object) const { release(object); }
};
template <class T>
using Owned = std::unique_ptr<T, Releaser<T>>;

template <class T>
[[nodiscard]] Owned<T> owned(T* object, void(ORT_API_CALL* release)(T*)) {
  return Owned<T>(object, Releaser<T>{release});
}

}  // namespace infermeter
