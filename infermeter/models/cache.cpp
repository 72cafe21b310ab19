#include "infermeter/models/cache.hpp"

#include <unistd.h>

#include <cstdlib>

namespace infermeter {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// There, or can be made, and may be written to: a home folder need not be.
bool is_writable(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return ::access(folder.c_str(), W_OK) == 0;
}

}  // namespace

std::filesystem::path default_cache() {
  if (const auto own = variable("INFERMETER_CACHE"); !own.empty()) return own;
  // The XDG base directory specification: a relative path there is to be ignored.
  if (const std::filesystem::path xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "infermeter";
  if (const std::filesystem::path home = variable("HOME"); home.is_absolute() && is_writable(home / ".cache")) {
    return home / ".cache" / "infermeter";
  }
  std::error_code error;
  const auto temporary = std::filesystem::temp_directory_path(error);
  return (error ? std::filesystem::path("/tmp") : temporary) / ("infermeter-" + std::to_string(::getuid()));
}

}  // namespace infermeter
