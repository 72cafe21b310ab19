#include "python/bind/launcher.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdlib>

namespace nb = nanobind;

namespace infermeter::python {
namespace {

namespace fs = std::filesystem;

// First, and once.
void put_first(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  const fs::path full = fs::weakly_canonical(folder, error);
  std::erase(folders, full);
  folders.insert(folders.begin(), full);
}

}  // namespace

Result<Launcher> launcher_of_this_python(const fs::path& extra_plugins) {
  INFERMETER_TRY(Launcher launcher, find_launcher(extra_plugins));
  const char* const named = std::getenv("INFERMETER_PYTHON");
  if (named != nullptr && *named != '\0') return launcher;
  // None or empty where Python is embedded in another program.
  const nb::object executable = nb::module_::import_("sys").attr("executable");
  if (nb::cast<bool>(nb::bool_(executable))) launcher.python = nb::cast<fs::path>(executable);
  const nb::object get_path = nb::module_::import_("sysconfig").attr("get_path");
  for (const char* const kind : {"purelib", "platlib"}) {
    put_first(launcher.python_folders, nb::cast<fs::path>(get_path(kind)));
  }
  return launcher;
}

}  // namespace infermeter::python
