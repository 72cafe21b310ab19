// Diagnostics, and the figures that everything else is made of.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <fmt/format.h>

#include "infermeter/infermeter.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {

void bind_diagnostics(nb::module_& module) {
  nb::class_<Diagnostic>(module, "Diagnostic", "The number stands, but read this.")
      .def_prop_ro(
          "id", [](const Diagnostic& d) { return to_string(d.id); }, "Its name, of a closed list: \"foreign_load\".")
      .def_prop_ro(
          "severity", [](const Diagnostic& d) { return to_string(info(d.id).severity); },
          "\"info\", \"warning\" or \"error\".")
      .def_ro("message", &Diagnostic::message, "What was seen, with its figures.")
      .def_ro("about", &Diagnostic::about, "Which subject or trial it is about; empty: the whole run.")
      .def_prop_ro(
          "remedy", [](const Diagnostic& d) { return in_python_words(info(d.id).remedy); },
          "What can be done about it.")
      .def("__repr__", [](const Diagnostic& d) {
        return fmt::format("<Diagnostic {} {}: {}>", to_string(info(d.id).severity), to_string(d.id), d.message);
      });

  nb::class_<Interval>(module, "Interval", "An interval in the unit of its figure.")
      .def_ro("low", &Interval::low)
      .def_ro("high", &Interval::high)
      .def_ro("confidence", &Interval::confidence, "0.95 say.")
      .def("__repr__",
           [](const Interval& i) { return fmt::format("<Interval {} … {} at {}>", i.low, i.high, i.confidence); });

  nb::class_<Estimate>(module, "Estimate", "A figure with where it comes from.")
      .def_ro("value", &Estimate::value, "None: it cannot be determined, and `note` says why.")
      .def_ro("interval", &Estimate::interval, "Across worker processes; None with fewer than two.")
      .def_ro("n", &Estimate::n, "Iterations behind it; processes, where each gives one value.")
      .def_ro("processes", &Estimate::processes)
      .def_ro("method", &Estimate::method)
      .def_ro("note", &Estimate::note)
      .def("__repr__", [](const Estimate& e) {
        const std::string value = e.value ? fmt::format("{}", *e.value) : "None";
        return e.interval ? fmt::format("<Estimate {} ({} … {})>", value, e.interval->low, e.interval->high)
                          : fmt::format("<Estimate {}>", value);
      });
}

}  // namespace infermeter::python
