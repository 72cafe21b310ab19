#include "devices.hpp"

#include <unistd.h>

#include <cctype>

#include "compile.hpp"
#include "letter_case.hpp"

namespace infermeter {
namespace {

bool accelerators_may_exist() { return access("/dev/dri", F_OK) == 0 || access("/dev/accel", F_OK) == 0; }

// Capabilities are words with blanks between them.
bool has_word(const std::string& words, const std::string& word) {
  return (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

std::vector<std::string> list_devices(const Api& api, const ov_core_t* core) {
  std::vector<std::string> names = {"cpu"};
  ov_available_devices_t devices{};
  if (!accelerators_may_exist() || api.ov_core_get_available_devices(core, &devices) != OK) return names;
  for (std::size_t i = 0; i < devices.size; ++i) {
    if (const std::string name = lower(devices.devices[i]); name != "cpu") names.push_back(name);
  }
  api.ov_available_devices_free(&devices);
  return names;
}

std::vector<std::string> list_dtypes(const Api& api, const ov_core_t* core, const std::vector<std::string>& devices) {
  std::string capabilities;
  for (const std::string& device : devices) {
    capabilities += property_of(api, core, upper(device), "OPTIMIZATION_CAPABILITIES") + " ";
  }
  std::vector<std::string> dtypes = {"float32"};
  if (has_word(capabilities, "FP16")) dtypes.emplace_back("float16");
  if (has_word(capabilities, "BF16")) dtypes.emplace_back("bfloat16");
  return dtypes;
}

}  // namespace infermeter
