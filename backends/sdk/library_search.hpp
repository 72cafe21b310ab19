// Finds and opens a runtime's shared library when the plug-in runs: the file that was named, else the Python
// environment's, else the system's.
#pragma once

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"

namespace infermeter {

struct LibraryPlaces {
  std::string_view runtime;         // "ONNX Runtime"
  std::string_view package;         // what to install: "onnxruntime"
  std::string_view python_pattern;  // below site-packages: "onnxruntime/capi/libonnxruntime.so*"
  std::span<const char* const> system_names;
};

// Never closed: runtimes leave threads and thread-local destructors behind that would run in unmapped code.
struct OpenLibrary {
  void* handle = nullptr;
  std::string path;
};

// The name of a folder may hold what a pattern gives a meaning to.
inline std::string glob_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

inline std::vector<std::string> matching_files(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return files;
}

inline std::string path_of(void* handle, std::string otherwise) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || *map->l_name == '\0') return otherwise;
  return map->l_name;
}

inline OpenLibrary open_file(const std::string& file, const LibraryPlaces& places, std::string_view remedy) {
  struct stat status{};
  const std::string runtime(places.runtime);
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(IMB_LIBRARY_MISSING, "there is no file " + file + " to take " + runtime + " from; " + std::string(remedy));
  }
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;  // never the loader's own search
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    fail(IMB_LIBRARY_MISSING, runtime + " cannot be opened (" + (reason != nullptr ? reason : "unknown reason") +
                                  "); " + std::string(remedy));
  }
  return {handle, file};
}

// Throws Failure(IMB_LIBRARY_MISSING). What was found first counts, even if it cannot be opened: taking another version
// silently would be worse than an error.
inline OpenLibrary open_library(const imb_environment& environment, const LibraryPlaces& places) {
  if (environment.library != nullptr && *environment.library != '\0') {
    return open_file(environment.library, places, "name another file with library= or --backend-library");
  }
  const std::string install = "pip install " + std::string(places.package);
  for (std::size_t i = 0; i < environment.python_folder_count; ++i) {
    const std::string folder = environment.python_folders[i];
    const auto files = matching_files(glob_escaped(folder) + "/" + std::string(places.python_pattern));
    if (!files.empty()) return open_file(files.front(), places, "reinstall it with " + install);
  }
  for (const char* name : places.system_names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return {handle, path_of(handle, name)};
  }
  fail(IMB_LIBRARY_MISSING, "the library of " + std::string(places.runtime) + " was found neither in the Python " +
                                "environment (" + std::to_string(environment.python_folder_count) +
                                " folders searched) nor by the system; " + install +
                                ", or name the file with --backend-library");
}

}  // namespace infermeter
