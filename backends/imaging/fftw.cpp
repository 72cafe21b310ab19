#include "fftw.hpp"

#include <dlfcn.h>

#include "sdk/library_search.hpp"

namespace infermeter {
namespace {

constexpr const char* system_names[] = {"libfftw3f.so.3", "libfftw3f.so"};
constexpr LibraryPlaces places = {
    .runtime = "FFTW (single precision)", .package = "", .python_pattern = "", .system_names = system_names};

// The system's alone: a copy inside of somebody's Python package would be another one from machine to machine.
OpenLibrary open_somewhere(const imb_environment& environment) {
  if (environment.library != nullptr && *environment.library != '\0')
    return open_file(environment.library, places, "name another file with library= or --backend-library");
  for (const char* name : system_names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return {handle, path_of(handle, name)};
  }
  fail(IMB_LIBRARY_MISSING,
       "the library of FFTW in single precision, libfftw3f.so.3, was not found by the system; install it (Debian and "
       "Ubuntu: apt install libfftw3-single3), or name the file with --backend-library");
}

template <class Function>
void bind(const OpenLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library.handle, name));
  if (function != nullptr) return;
  fail(IMB_LIBRARY_TOO_OLD, library.path + " does not export " + name +
                                "; FFTW 3.3 or newer is needed, in single precision (libfftw3f.so.3)");
}

std::string number_in(const std::string& build) {
  const std::size_t begin = build.find('-');
  if (begin == std::string::npos) return build;
  return build.substr(begin + 1, build.find('-', begin + 1) - begin - 1);
}

}  // namespace

Fftw open_fftw(const imb_environment& environment) {
  const OpenLibrary library = open_somewhere(environment);
  Fftw fftw;
  fftw.path = library.path;
  bind(library, "fftwf_plan_dft_2d", fftw.plan_dft_2d);
  bind(library, "fftwf_execute_dft", fftw.execute_dft);
  bind(library, "fftwf_destroy_plan", fftw.destroy_plan);
  bind(library, "fftwf_import_wisdom_from_string", fftw.import_wisdom);
  bind(library, "fftwf_export_wisdom_to_string", fftw.export_wisdom);
  bind(library, "fftwf_forget_wisdom", fftw.forget_wisdom);
  bind(library, "fftwf_free", fftw.free);
  const auto* build = static_cast<const char*>(dlsym(library.handle, "fftwf_version"));
  fftw.build = build != nullptr ? build : "fftw-of an unknown version";
  fftw.version = number_in(fftw.build);
  return fftw;
}

}  // namespace infermeter
