#include "infermeter/store/libpq.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr const char* library_name = "libpq.so.5";

struct Loaded {
  Libpq functions;
  std::string why_not;  // empty: it is there
};

// Programs that were linked with it, as wheels are, which bring it along under a name of its own, have it already.
void* linked_library() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&load_libpq), &self) == 0) return nullptr;
  void* const library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr && dlsym(library, "PQconnectStartParams") != nullptr ? library : nullptr;
}

Loaded load() {
  Loaded loaded;
  void* library = linked_library();
  if (library == nullptr) library = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.why_not = printable(dlerror());
    return loaded;
  }
#define INFERMETER_LIBPQ_FIND(name)                                                                 \
  loaded.functions.name = reinterpret_cast<decltype(loaded.functions.name)>(dlsym(library, #name)); \
  if (loaded.functions.name == nullptr && loaded.why_not.empty()) loaded.why_not = "it has no " #name;
  INFERMETER_LIBPQ_FUNCTIONS(INFERMETER_LIBPQ_FIND)
#undef INFERMETER_LIBPQ_FIND
  return loaded;
}

const Loaded& loaded_once() {
  static const Loaded loaded = load();
  return loaded;
}

}  // namespace

Result<Done> load_libpq() {
  if (loaded_once().why_not.empty()) return Done{};
  return usage_error(
      fmt::format("a store in PostgreSQL needs {} (Debian: apt install libpq5), which cannot be loaded: {}",
                  library_name, loaded_once().why_not));
}

const Libpq& libpq() { return loaded_once().functions; }

}  // namespace infermeter
