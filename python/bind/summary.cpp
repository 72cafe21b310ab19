// What samples say: metrics with their intervals, and ratios of them.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "infermeter/infermeter.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

nb::object metric_of(nb::handle_t<Summary> self, std::string_view name) {
  const Metric* metric = nb::cast<const Summary&>(self).metric(name);
  if (metric == nullptr) return nb::none();
  return nb::cast(metric, nb::rv_policy::reference_internal, self);
}

}  // namespace

void bind_summary(nb::module_& module) {
  nb::class_<Metric>(module, "Metric", "A figure by its name, in base units.")
      .def_ro("name", &Metric::name, "\"latency_p50\", \"throughput\", \"memory_peak\", …")
      .def_ro("unit", &Metric::unit, "\"s\", \"items/s\" or \"bytes\".")
      .def_ro("lower_is_better", &Metric::lower_is_better)
      .def_ro("estimate", &Metric::estimate)
      .def_ro("within", &Metric::within,
              "Percentiles: the order-statistic interval within the pooled iterations, which assumes independence.")
      .def_prop_ro(
          "value", [](const Metric& m) { return m.estimate.value; }, "The estimate's, in `unit`.")
      .def("__repr__", [](const Metric& m) {
        return fmt::format("<Metric {} {} {}>", m.name,
                           m.estimate.value ? fmt::format("{}", *m.estimate.value) : "None", m.unit);
      });

  nb::class_<CounterSummary>(module, "CounterSummary",
                             "What a subject counted itself: the mean over processes of the values as they are.")
      .def_ro("name", &CounterSummary::name)
      .def_ro("unit", &CounterSummary::unit)
      .def_ro("estimate", &CounterSummary::estimate)
      .def_prop_ro(
          "value", [](const CounterSummary& c) { return c.estimate.value; }, "The estimate's, in `unit`.")
      .def("__repr__", [](const CounterSummary& c) {
        return fmt::format("<CounterSummary {} {} {}>", c.name,
                           c.estimate.value ? fmt::format("{}", *c.estimate.value) : "None", c.unit);
      });

  nb::class_<OutlierCount>(module, "Outliers",
                           "How many iterations look like outliers; dropped only where that was asked for.")
      .def_ro("mild", &OutlierCount::mild, "Beyond 1.5, but not beyond 3, interquartile ranges of the quartiles.")
      .def_ro("severe", &OutlierCount::severe, "Beyond 3 interquartile ranges.")
      .def_ro("removed", &OutlierCount::removed, "By the rule that was asked for.")
      .def_ro("total", &OutlierCount::total);

  nb::class_<Summary>(module, "Summary", "What the samples of one subject say.")
      .def_ro("subject", &Summary::subject, "Index into the plan's subjects.")
      .def_ro("trials_ok", &Summary::trials_ok)
      .def_ro("trials_partial", &Summary::trials_partial, "Ended early with some iterations.")
      .def_ro("trials_failed", &Summary::trials_failed, "With none.")
      .def_ro("metrics", &Summary::metrics)
      .def_ro("counters", &Summary::counters, "What the subject counted itself, each name once.")
      .def_ro("outliers", &Summary::outliers)
      .def_ro("diagnostics", &Summary::diagnostics)
      .def("metric", metric_of, nb::arg("name"), nb::sig("def metric(self, name: str) -> Metric | None"),
           "The metric of this name: latency_p50, latency_p90, latency_p95, latency_p99, latency_mean, latency_std, "
           "latency_min, latency_max (seconds), throughput (items/s), memory_peak, device_memory_peak (bytes), "
           "load_time, "
           "compile_time, first_inference_time (seconds). None: not measured.");

  nb::class_<Ratio>(module, "Ratio", "How many times better the candidate is than the baseline; 2 is twice as good.")
      .def_ro("metric", &Ratio::metric)
      .def_ro("estimate", &Ratio::estimate);
}

}  // namespace infermeter::python
