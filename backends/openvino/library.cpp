#include "library.hpp"

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/library_search.hpp"

namespace infermeter {
namespace {

constexpr const char* system_names[] = {"libopenvino_c.so"};
constexpr LibraryPlaces places = {.runtime = "OpenVINO",
                                  .package = "openvino",
                                  .python_pattern = "openvino/libs/libopenvino_c.so*",
                                  .system_names = system_names};

// Until 2024 the element types were numbered otherwise; 2025.2 is the oldest that was tried.
constexpr std::pair<int, int> oldest = {2025, 2};

[[noreturn]] void too_old(const std::string& what) {
  fail(IMB_LIBRARY_TOO_OLD, what + "; OpenVINO " + std::to_string(oldest.first) + "." + std::to_string(oldest.second) +
                                " or newer is needed");
}

Api bind_functions(const OpenLibrary& library) {
  Api api;
  const auto find = [&](const char* name) {
    void* address = dlsym(library.handle, name);
    if (address == nullptr) too_old(library.path + " does not export " + name);
    return address;
  };
#define INFERMETER_OPENVINO_BIND(name) api.name = reinterpret_cast<decltype(api.name)>(find(#name));
  INFERMETER_OPENVINO_FUNCTIONS(INFERMETER_OPENVINO_BIND)
#undef INFERMETER_OPENVINO_BIND
  return api;
}

// "2026.4.1-22187-83c74420a8f-releases/2026/4" -> "2026.4.1"
std::string version_of(const Api& api) {
  ov_version_t version{};
  check(api, api.ov_get_openvino_version(&version), IMB_LIBRARY_MISSING, "OpenVINO did not report its version");
  std::string text = version.buildNumber != nullptr ? version.buildNumber : "";
  api.ov_version_free(&version);
  return text.substr(0, text.find('-'));
}

std::pair<int, int> release_of(std::string_view version) {
  std::pair<int, int> release{0, 0};
  const char* end = version.data() + version.size();
  const auto year = std::from_chars(version.data(), end, release.first);
  if (year.ec == std::errc{} && year.ptr != end) std::from_chars(year.ptr + 1, end, release.second);
  return release;
}

// OpenVINO's messages are several lines of where in its source, then what. Only what is of use.
std::string useful_part(std::string_view text) {
  std::string useful;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with("Exception from ")) continue;
    if (line.starts_with("Check '") || line.starts_with("[ GENERAL_ERROR ] Check '")) {
      const std::size_t place = line.find("failed at ");
      const std::size_t colon = place == std::string_view::npos ? place : line.find(": ", place);
      line = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 2);
    }
    while (line.ends_with(':') || line.ends_with(' ')) line.remove_suffix(1);
    if (!line.empty()) useful += (useful.empty() ? "" : "; ") + std::string(line);
  }
  return useful.substr(0, utf8_prefix(useful, 400));
}

bool speaks_of_memory(const std::string& text) {
  return text.find("bad_alloc") != std::string::npos || text.find("ould not allocate") != std::string::npos ||
         text.find("out of memory") != std::string::npos;
}

}  // namespace

Library open_openvino(const imb_environment& environment) {
  const OpenLibrary opened = open_library(environment, places);
  Library library{.path = opened.path, .version = "", .api = bind_functions(opened)};
  library.version = version_of(library.api);
  if (release_of(library.version) < oldest) too_old(library.path + " is OpenVINO " + library.version);
  return library;
}

void check(const Api& api, ov_status_e status, imb_status otherwise, const std::string& what) {
  if (status == OK) return;
  // From here on the errors are the C layer's own: the last message is then of something earlier.
  const char* message = status > INVALID_C_PARAM ? api.ov_get_last_err_msg() : nullptr;
  std::string text = useful_part(message != nullptr ? message : "");
  if (text.empty()) text = api.ov_get_error_info(status);
  fail(speaks_of_memory(text) ? IMB_OUT_OF_MEMORY : otherwise, what + ": " + text);
}

}  // namespace infermeter
