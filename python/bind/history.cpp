// Histories: what the stored runs say over time.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "infermeter/infermeter.hpp"
#include "python/bind/calling_thread.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

Result<std::vector<History>> read_histories(const Plan& place, std::string_view metric,
                                            const std::optional<std::string>& series, bool all_machines, double since,
                                            const std::atomic<int>* interrupt) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::write_if_possible, interrupt));
  INFERMETER_TRY_DONE(store.complete_figures());
  FigureQuery query{.metric = {}, .series = series, .machine = {}, .since = since};
  INFERMETER_TRY(query.metric, metric_from_string(metric));
  if (!all_machines) query.machine = machine_fingerprint(read_environment());
  INFERMETER_TRY(auto figures, store.figures(query));
  return judge_histories(std::move(figures));
}

std::vector<History> histories(const std::filesystem::path& output_dir, const std::string& metric,
                               const std::optional<std::string>& series, bool all_machines, double since,
                               const std::string& store) {
  Plan place;
  place.output_dir = output_dir.string();
  place.store = store;
  return value_or_raise(interruptible([&](const std::atomic<int>* interrupt) {
    return read_histories(place, metric, series, all_machines, since, interrupt);
  }));
}

void bind_figure(nb::module_& module) {
  nb::class_<Figure>(module, "Figure", "One value of a history.")
      .def_ro("run", &Figure::run)
      .def_ro("label", &Figure::label)
      .def_ro("created_at", &Figure::created_at, "Of the run; seconds since 1970, UTC.")
      .def_ro("value", &Figure::value, "In the metric's base unit.")
      .def_ro("interval", &Figure::interval)
      .def_ro("processes", &Figure::processes)
      .def_ro("runtime_version", &Figure::runtime_version)
      .def_ro("model_sha256", &Figure::model_sha256)
      .def_ro("git_commit", &Figure::git_commit)
      .def_ro("infermeter_version", &Figure::infermeter_version);
}

void bind_change(nb::module_& module) {
  nb::class_<ContextChange>(module, "ContextChange", "Something that was another one before a change than after it.")
      .def_prop_ro("what", [](const ContextChange& c) { return to_string(c.what); })
      .def_ro("before", &ContextChange::before)
      .def_ro("after", &ContextChange::after);
  nb::class_<HistoryChange>(module, "HistoryChange", "A change between two levels.")
      .def_prop_ro(
          "index", [](const HistoryChange& c) { return c.point.index; }, "Of the first figure of the new level.")
      .def_prop_ro(
          "change", [](const HistoryChange& c) { return c.point.change; }, "As a share; positive: larger.")
      .def_ro("worse", &HistoryChange::worse)
      .def_ro("context", &HistoryChange::context);
  nb::class_<Level>(module, "Level", "The figures between two changes.")
      .def_ro("begin", &Level::begin)
      .def_ro("end", &Level::end, "One behind its last figure.")
      .def_ro("mean_log", &Level::mean_log, "Mean of the natural logarithms.")
      .def_ro("sd", &Level::sd, "Of the logarithms.");
}

}  // namespace

void bind_history(nb::module_& module) {
  bind_figure(module);
  bind_change(module);
  nb::class_<History>(module, "History", "One series on one machine over time.")
      .def_ro("series", &History::series)
      .def_ro("machine", &History::machine, "Its fingerprint.")
      .def_ro("metric", &History::metric)
      .def_ro("figures", &History::figures, "One per run, by date.")
      .def_ro("levels", &History::levels)
      .def_ro("changes", &History::changes)
      .def_ro("too_few", &History::too_few, "Runs, to look for changes.")
      .def_prop_ro("alarm", &History::alarm, nb::rv_policy::reference_internal,
                   nb::sig("def alarm(self) -> HistoryChange | None"),
                   "The last change, if it is for the worse; a reason to compare the two builds, and no verdict.")
      .def("__repr__", [](const History& h) {
        return fmt::format("<History {} {}: {} runs, {} changes>", h.series, h.metric, h.figures.size(),
                           h.changes.size());
      });
  module.def(
      "histories", histories, nb::arg("output_dir") = std::filesystem::path("results"), nb::kw_only(),
      nb::arg("metric") = "p50", nb::arg("series") = nb::none(), nb::arg("all_machines") = false,
      nb::arg("since") = 0.0, nb::arg("store") = "",
      nb::sig("def histories(output_dir: str | os.PathLike[str] = 'results', *, metric: str = 'p50', series: str | "
              "None = None, all_machines: bool = False, since: float = 0.0, store: str = '') -> list[History]"),
      "One for each series of this machine (or of all), as `infermeter history` shows them; `since`: seconds since "
      "1970, UTC.");
}

}  // namespace infermeter::python
