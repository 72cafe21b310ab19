// infermeter._core: the public library (infermeter/infermeter.hpp) for Python. Each core_*.cpp binds one part of it;
// what is convenient in Python is written in Python, on top of this.
#include <nanobind/nanobind.h>

#include "infermeter/version.hpp"
#include "python/core_parts.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  using namespace infermeter::python;
  module.doc() = "The compiled part of infermeter. Use the package `infermeter`.";
  module.attr("version") = nb::str(INFERMETER_VERSION);
  bind_data(module);
  bind_diagnostics(module);
  bind_summary(module);
  bind_samples(module);
  bind_plan(module);
  bind_machine(module);
  bind_outputs(module);
  bind_metrics(module);
  bind_verdict(module);
  bind_page(module);
  bind_validate(module);
  bind_stacks(module);
  bind_record(module);
  bind_store(module);
  bind_run(module);
  bind_measure(module);
  bind_results(module);
  bind_gate(module);
  bind_history(module);
  bind_variants(module);
}
