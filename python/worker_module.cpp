// infermeter._worker: Python as the host of a trial. Linked to the layers that a trial needs and no other, so that the
// memory measured is the subject's.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>

#include "infermeter/worker/worker.hpp"
#include "python/python_backend.hpp"

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

Result<Done> convert(const WorkerJob& job) {
  try {
    const nb::object module = nb::module_::import_("infermeter._host").attr("load_file")(job.plugin);
    module.attr("convert")(job.trial.zoo_name, job.trial.model_path, job.trial.subject.batch_size, job.convert_to);
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
                                  .convert = infermeter::python::convert,
                                  .readable = readable,
                                  .starts_programs = true});
      },
      nb::arg("readable"));
}
