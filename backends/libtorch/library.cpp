#include "library.hpp"

#include <cstdint>
#include <string_view>

#include "sdk/library_search.hpp"
#include "sdk/second_part.hpp"

namespace infermeter {
namespace {

constexpr std::string_view built_with = INFERMETER_TORCH_VERSION;

constexpr const char* system_names[] = {"libtorch_cpu.so"};
constexpr LibraryPlaces places = {.runtime = "PyTorch " INFERMETER_TORCH_VERSION,
                                  .package = "torch==" INFERMETER_TORCH_VERSION " (scripts/setup --with pytorch)",
                                  .python_pattern = "torch/lib/libtorch_cpu.so",
                                  .system_names = system_names};

// TORCH_ABI_VERSION: a byte each for major, minor and patch, from the top.
std::string version_from(std::uint64_t abi_version) {
  const auto byte = [&](unsigned shift) { return std::to_string((abi_version >> shift) & 0xFFu); };
  return byte(56) + "." + byte(48) + "." + byte(40);
}

[[noreturn]] void refuse_version(const std::string& what) {
  fail(IMB_LIBRARY_TOO_OLD, what + ", and this back end was built with PyTorch " + std::string(built_with) +
                                ", whose C++ interface no other version has; pip install torch==" +
                                std::string(built_with) + ", or build infermeter again beside that PyTorch");
}

void check_version(const OpenLibrary& library) {
  const auto abi_version = reinterpret_cast<std::uint64_t (*)()>(dlsym(library.handle, "aoti_torch_abi_version"));
  if (abi_version == nullptr) refuse_version(library.path + " is not a PyTorch, or one before 2.9");
  const std::string version = version_from(abi_version());
  if (version != built_with) refuse_version(library.path + " is PyTorch " + version);
}

void* open_own(const std::string& name) {
  static const char here = 0;
  const SecondPart opened = open_beside(&here, name);
  if (opened.handle == nullptr) {
    fail(IMB_LIBRARY_MISSING,
         "a part of the libtorch back end cannot be opened (" + opened.reason + "); build or install infermeter again");
  }
  return opened.handle;
}

const imb_backend* open_part() {
  open_own("libinfermeter_libtorch_stub.so");
  const auto table = reinterpret_cast<imb_backend_fn>(dlsym(open_own("libinfermeter_libtorch.so"), "libtorch_part"));
  if (table == nullptr)
    fail(IMB_LIBRARY_MISSING, "a part of the libtorch back end is damaged; install infermeter again");
  return table();
}

}  // namespace

Libtorch open_libtorch(const imb_environment& environment) {
  static OpenLibrary first;
  static const imb_backend* part = nullptr;
  const OpenLibrary library = open_library(environment, places);
  check_version(library);
  if (part == nullptr) {
    part = open_part();
    first = library;
  }
  if (library.handle != first.handle) {
    fail(IMB_INVALID_ARGUMENT, "this process uses " + first.path + " already and cannot use " + library.path + " too");
  }
  return {.path = library.path, .part = part};
}

}  // namespace infermeter
