// infermeter._core: the public library (infermeter/infermeter.hpp) for Python. Each core_*.cpp binds one part of it; what
// is convenient in Python is written in Python, on top of this.
#include <nanobind/nanobind.h>

#include "infermeter/version.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The compiled part of infermeter. Use the package `infermeter`.";
  module.attr("version") = INFERMETER_VERSION;
}
