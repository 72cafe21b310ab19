#include "python/python_profiler.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <sys/prctl.h>

#include <string>
#include <utility>

namespace nb = nanobind;

namespace infermeter::python {
namespace {

template <class Product, class Body>
Result<Product> in_profiler(Body&& body) {
  try {
    return body(nb::module_::import_("infermeter.python_profilers"));
  } catch (nb::python_error& raised) {
    const auto explain = nb::module_::import_("infermeter._host").attr("explain");
    return worker_error(nb::cast<std::pair<int, std::string>>(explain(raised.value())).second);
  }
}

// Where the kernel lets a process be looked at by its ancestors only (kernel.yama.ptrace_scope 1), it may name one more
// whose children may. Without Yama there is nothing to allow. py-spy reads the names of threads in the module
// threading.
Result<Done> allow_to_look(pid_t launcher) {
  if (launcher == in_this_process)
    return usage_error(
        "py-spy looks at a worker process, and a live object is measured in this one: use cprofile or pyinstrument");
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(launcher), 0, 0, 0);
  return in_profiler<Done>([](const nb::object&) {
    nb::module_::import_("threading");
    return Done{};
  });
}

}  // namespace

PythonProfileHooks profile_hooks(pid_t launcher) {
  PythonProfileHooks hooks;
  hooks.begin = [launcher](PythonProfiler profiler) -> Result<Done> {
    if (profiler == PythonProfiler::py_spy) return allow_to_look(launcher);
    return in_profiler<Done>([profiler](const nb::object& module) {
      module.attr("begin")(std::string(to_string(profiler)));
      return Done{};
    });
  };
  hooks.end = [](PythonProfiler profiler) -> Result<std::string> {
    if (profiler == PythonProfiler::py_spy) return std::string();
    return in_profiler<std::string>(
        [](const nb::object& module) { return nb::cast<std::string>(module.attr("end")()); });
  };
  return hooks;
}

}  // namespace infermeter::python
