// PROGRAM PLUGIN MODEL [--option KEY=VALUE...] [PYTHON_FOLDER...]: holds a plug-in against the contract of
// infermeter_backend.h. Exit status 77: the runtime's library is not installed.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "backend_under_test.hpp"

namespace infermeter {
namespace {

bool open_plugin(const char* path) {
  BackendUnderTest& backend = under_test();
  backend.plugin = std::filesystem::absolute(path);
  void* handle = dlopen(backend.plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), false;
  const auto version = reinterpret_cast<imb_abi_version_fn>(dlsym(handle, "infermeter_backend_abi_version"));
  const auto table = reinterpret_cast<imb_backend_fn>(dlsym(handle, "infermeter_backend"));
  if (version == nullptr || table == nullptr) return std::fputs("a symbol is missing\n", stderr), false;
  backend.abi_version = version();
  backend.table = table();
  return backend.table != nullptr;
}

// In a child: a library that is loaded once is found by its name from then on.
std::string open_without_python() {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    under_test().python_folders = {"/nonexistent/[a*"};
    const auto opened = open_runtime();
    const ssize_t written = write(ends[1], opened.message.data(), opened.message.size());
    _exit(written >= 0 ? 0 : 1);
  }
  close(ends[1]);
  std::string text(2048, '\0');
  const ssize_t size = read(ends[0], text.data(), text.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

// What follows the model: folders, and options that the model needs to be loaded.
bool read_arguments(int argc, char** argv) {
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument != "--option") {
      under_test().python_folders.push_back(argument);
      continue;
    }
    const std::string option = ++i < argc ? argv[i] : "";
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) return false;
    under_test().options[option.substr(0, equals)] = option.substr(equals + 1);
  }
  return true;
}

// HOME and the current folder, both empty: what appears in them was written by the plug-in or its runtime.
std::filesystem::path move_to_an_empty_home() {
  std::string name = std::filesystem::temp_directory_path() / "backend_conformance.XXXXXX";
  if (mkdtemp(name.data()) == nullptr || chdir(name.c_str()) != 0) std::abort();
  setenv("HOME", name.c_str(), 1);
  unsetenv("XDG_CACHE_HOME");
  return name;
}

}  // namespace
}  // namespace infermeter

int main(int argc, char** argv) {
  using namespace infermeter;
  testing::InitGoogleTest(&argc, argv);
  if (argc < 3 || !read_arguments(argc, argv) || !open_plugin(argv[1])) {
    std::fputs("usage: PROGRAM PLUGIN MODEL [--option KEY=VALUE...] [PYTHON_FOLDER...]\n", stderr);
    return 2;
  }
  under_test().model = std::filesystem::absolute(argv[2]);
  const auto home = move_to_an_empty_home();
  under_test().without_python = open_without_python();
  const auto opened = open_runtime();
  if (opened.status == IMB_LIBRARY_MISSING) {
    std::printf("skipped: %s\n", opened.message.c_str());
    return 77;
  }
  int failures = RUN_ALL_TESTS();
  if (!std::filesystem::is_empty(home)) {
    std::printf("FAILED: the plug-in or its runtime wrote %s\n",
                std::filesystem::directory_iterator(home)->path().c_str());
    failures = 1;
  }
  std::filesystem::remove_all(home);
  return failures;
}
