#include "library.hpp"

#include <cstdlib>

#include "sdk/library_search.hpp"

namespace infermeter {
namespace {

constexpr const char* system_names[] = {"libonnxruntime.so.1", "libonnxruntime.so"};

// The wheel holds only the name with the full version in it.
constexpr LibraryPlaces places = {.runtime = "ONNX Runtime",
                                  .package = "onnxruntime",
                                  .python_pattern = "onnxruntime/capi/libonnxruntime.so*",
                                  .system_names = system_names};

[[noreturn]] void too_old(const std::string& what) {
  fail(IMB_LIBRARY_TOO_OLD, what + "; ONNX Runtime 1." + std::to_string(needed_api) + " or newer is needed");
}

bool speaks_of_memory(const std::string& text) {
  return text.find("Failed to allocate") != std::string::npos || text.find("bad_alloc") != std::string::npos ||
         text.find("out of memory") != std::string::npos;
}

}  // namespace

Library open_onnxruntime(const imb_environment& environment) {
  // Read once, when the library is loaded. Without it, Linux builds since 1.30 write a data base and start a thread.
  setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  const OpenLibrary library = open_library(environment, places);
  using GetBase = const OrtApiBase*(ORT_API_CALL*)();
  const auto get_base = reinterpret_cast<GetBase>(dlsym(library.handle, "OrtGetApiBase"));
  if (get_base == nullptr) too_old(library.path + " does not export OrtGetApiBase");
  const OrtApiBase* base = get_base();
  const char* version = base != nullptr ? base->GetVersionString() : nullptr;
  const OrtApi* api = base != nullptr ? base->GetApi(needed_api) : nullptr;
  if (api == nullptr) {
    too_old(library.path + " is ONNX Runtime " + (version != nullptr ? version : "of an unknown version") +
            ", which lacks version " + std::to_string(needed_api) + " of its C API");
  }
  return {library.path, version, api};
}

void check(const OrtApi& api, OrtStatus* status, imb_status otherwise, const std::string& what) {
  if (status == nullptr) return;
  const auto owner = owned(status, api.ReleaseStatus);
  std::string text = api.GetErrorMessage(status);
  if (const std::size_t end = text.find('\n'); end != std::string::npos) text.resize(end);
  fail(speaks_of_memory(text) ? IMB_OUT_OF_MEMORY : otherwise, what + ": " + text);
}

std::vector<std::string> available_providers(const OrtApi& api) {
  char** names = nullptr;
  int count = 0;
  check(api, api.GetAvailableProviders(&names, &count), IMB_LIBRARY_MISSING, "ONNX Runtime did not list its providers");
  std::vector<std::string> providers(names, names + count);
  check(api, api.ReleaseAvailableProviders(names, count), IMB_LIBRARY_MISSING, "ONNX Runtime did not free a list");
  return providers;
}

}  // namespace infermeter
