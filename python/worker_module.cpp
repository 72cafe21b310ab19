// infermeter._worker: Python as the host of a trial. Linked to the layers that a trial needs and no other, so that the
// memory measured is the subject's.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>

#include "infermeter/worker/worker.hpp"
#include "python/python_backend.hpp"
#include "python/python_profiler.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

Error error_of(nb::python_error& raised) {
  const auto [status, sentence] =
      nb::cast<std::pair<int, std::string>>(nb::module_::import_("infermeter._host").attr("explain")(raised.value()));
  static_cast<void>(status);
  return usage_error(sentence);
}

Result<const imb_backend*> open(const WorkerJob& job) {
  try {
    set_opener(nb::module_::import_("infermeter._host").attr("opener_of")(job.plugin));
    return &backend();
  } catch (nb::python_error& raised) {
    return error_of(raised);
  }
}

Result<Done> make(const WorkerJob& job) {
  try {
    nb::dict options;
    for (const auto& [key, value] : job.trial.subject.options) options[nb::str(key.c_str())] = value;
    nb::module_::import_("infermeter._host")
        .attr("make_model")(job.plugin, job.trial.zoo_name, job.trial.model_path, options, job.make.data,
                            job.make.file);
    return Done{};
  } catch (nb::python_error& raised) {
    return error_of(raised);
  }
}

}  // namespace
}  // namespace infermeter::python

NB_MODULE(_worker, module) {
  module.doc() = "The worker process of back ends written in Python.";
  module.def(
      "serve",
      [](const std::vector<std::string>& readable) {
        return infermeter::serve({.open = infermeter::python::open,
                                  .make = infermeter::python::make,
                                  .readable = readable,
                                  .starts_programs = true,
                                  .python = [](const infermeter::WorkerJob& job) {
                                    return infermeter::python::profile_hooks(job.trial.launcher);
                                  }});
      },
      nb::arg("readable"));
}
