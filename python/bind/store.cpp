// Stored runs, and the names that some of them have.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "infermeter/infermeter.hpp"
#include "python/bind/calling_thread.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"
#include "python/bind/record.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

namespace fs = std::filesystem;

using Interrupt = const std::atomic<int>*;

// Where runs are: plan.store, or infermeter.db in the folder.
Plan place_of(const fs::path& output_dir, const std::string& store) {
  Plan plan;
  plan.output_dir = output_dir.string();
  plan.store = store;
  return plan;
}

Result<RunRecord> stored_run(const std::string& run, const Plan& place, Interrupt interrupt) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, interrupt));
  return store.load_run(run);
}

Result<RunRecord> baseline_run(const std::string& name, const Plan& place, Interrupt interrupt) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, interrupt));
  INFERMETER_TRY(const std::string id, store.baseline_run(name));
  return store.load_run(id);
}

Result<std::vector<RunListing>> stored_runs(const Plan& place, Interrupt interrupt) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, interrupt));
  return store.list_runs();
}

Result<std::string> name_run(const std::string& name, const std::string& run, const Plan& place, Interrupt interrupt) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::write, interrupt));
  INFERMETER_TRY(const Baseline baseline, store.set_baseline(name, run, wall_clock_s()));
  return baseline.run;
}

Result<std::string> unfinished_run(const Plan& place, Interrupt interrupt) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, interrupt));
  return store.latest_unfinished();
}

Result<PublishedSite> published(const Plan& place, SiteRequest request, Interrupt interrupt) {
  for (std::string& metric : request.metrics) {
    INFERMETER_TRY(metric, metric_from_string(metric));
  }
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::write_if_possible, interrupt));
  return publish_site(store, request, interrupt);
}

void bind_site(nb::module_& module) {
  nb::class_<PublishedSite>(module, "PublishedSite", "What publish() did.")
      .def_ro("runs", &PublishedSite::runs, "Runs that have a page.")
      .def_ro("series", &PublishedSite::series, "Series that have a page.")
      .def_ro("written", &PublishedSite::written, "Files that were written.")
      .def_ro("removed", &PublishedSite::removed, "Files that were removed.")
      .def_ro("unfinished", &PublishedSite::unfinished, "Runs that are left out as they are not finished.")
      .def_ro("unreadable", &PublishedSite::unreadable, "Ids of runs that are damaged and have no page.")
      .def("__repr__", [](const PublishedSite& site) {
        return fmt::format("<PublishedSite: runs {}, series {}, written {}, removed {}>", site.runs, site.series,
                           site.written, site.removed);
      });
  module.def(
      "publish",
      [](const fs::path& folder, const fs::path& output_dir, const std::string& store, const std::string& title,
         const std::vector<std::string>& metrics, std::size_t runs, bool samples, const std::string& base_url) {
        if (metrics.empty()) raise(usage_error("metrics: expected one metric at least, as p50"));
        const SiteRequest request{.folder = folder,
                                  .title = title,
                                  .base_url = base_url,
                                  .metrics = metrics,
                                  .runs = runs,
                                  .samples = samples};
        return value_or_raise(interruptible(
            [&](Interrupt interrupt) { return published(place_of(output_dir, store), request, interrupt); }));
      },
      nb::arg("folder"), nb::arg("output_dir") = fs::path("results"), nb::kw_only(), nb::arg("store") = "",
      nb::arg("title") = "infermeter", nb::arg("metrics") = std::vector<std::string>{"p50"}, nb::arg("runs") = 1000,
      nb::arg("samples") = false, nb::arg("base_url") = "",
      nb::sig(
          "def publish(folder: str | os.PathLike[str], output_dir: str | os.PathLike[str] = 'results', *, store: str "
          "= '', title: str = 'infermeter', metrics: collections.abc.Sequence[str] = ['p50'], runs: int = 1000, "
          "samples: bool = "
          "False, base_url: str = '') -> PublishedSite"),
      "Writes what is stored as a site of static files, as `infermeter publish` does: only what is new or changed.");
}

}  // namespace

void bind_store(nb::module_& module) {
  bind_site(module);
  nb::class_<RunListing>(module, "RunListing", "A stored run.")
      .def_ro("id", &RunListing::id)
      .def_ro("created_at", &RunListing::created_at, "Seconds since 1970, UTC.")
      .def_ro("finished", &RunListing::finished)
      .def_ro("trials_done", &RunListing::trials_done)
      .def_ro("trials_planned", &RunListing::trials_planned)
      .def_ro("labels", &RunListing::labels)
      .def_ro("tags", &RunListing::tags)
      .def_ro("note", &RunListing::note)
      .def_ro("damage", &RunListing::damage,
              "Why the run cannot be read, and nothing here relied on but its id; empty: it can.")
      .def("__repr__", [](const RunListing& r) {
        return fmt::format("<RunListing {}: {} of {} trials>", r.id, r.trials_done, r.trials_planned);
      });
  module.def(
      "load_run",
      [](const std::string& run, const fs::path& output_dir, const std::string& store) {
        return std::make_shared<MeasuredRun>(value_or_raise(interruptible(
            [&](Interrupt interrupt) { return stored_run(run, place_of(output_dir, store), interrupt); })));
      },
      nb::arg("run") = "latest", nb::arg("output_dir") = fs::path("results"), nb::kw_only(), nb::arg("store") = "",
      nb::sig("def load_run(run: str = 'latest', output_dir: str | os.PathLike[str] = 'results', *, store: str = '') "
              "-> Record"),
      "A stored run: its id, a unique beginning of one, \"latest\", \"previous\", or the name of a baseline.");
  module.def(
      "list_runs",
      [](const fs::path& output_dir, const std::string& store) {
        return value_or_raise(
            interruptible([&](Interrupt interrupt) { return stored_runs(place_of(output_dir, store), interrupt); }));
      },
      nb::arg("output_dir") = fs::path("results"), nb::kw_only(), nb::arg("store") = "",
      nb::sig("def list_runs(output_dir: str | os.PathLike[str] = 'results', *, store: str = '') -> list[RunListing]"),
      "The stored runs, the oldest first.");
  module.def(
      "latest_unfinished",
      [](const fs::path& output_dir, const std::string& store) {
        return value_or_raise(
            interruptible([&](Interrupt interrupt) { return unfinished_run(place_of(output_dir, store), interrupt); }));
      },
      nb::arg("output_dir") = fs::path("results"), nb::kw_only(), nb::arg("store") = "",
      nb::sig("def latest_unfinished(output_dir: str | os.PathLike[str] = 'results', *, store: str = '') -> str"),
      "The id of the run that was interrupted last and that nobody is measuring.");
  module.def(
      "set_baseline",
      [](const std::string& name, const std::string& run, const fs::path& output_dir, const std::string& store) {
        return value_or_raise(interruptible(
            [&](Interrupt interrupt) { return name_run(name, run, place_of(output_dir, store), interrupt); }));
      },
      nb::arg("name"), nb::arg("run") = "latest", nb::arg("output_dir") = fs::path("results"), nb::kw_only(),
      nb::arg("store") = "",
      nb::sig("def set_baseline(name: str, run: str = 'latest', output_dir: str | os.PathLike[str] = 'results', *, "
              "store: str = '') -> str"),
      "Gives a finished run a name, so that later ones can be compared with it; returns its id.");
  module.def(
      "load_baseline",
      [](const std::string& name, const fs::path& output_dir, const std::string& store) {
        return std::make_shared<MeasuredRun>(value_or_raise(interruptible(
            [&](Interrupt interrupt) { return baseline_run(name, place_of(output_dir, store), interrupt); })));
      },
      nb::arg("name"), nb::arg("output_dir") = fs::path("results"), nb::kw_only(), nb::arg("store") = "",
      nb::sig(
          "def load_baseline(name: str, output_dir: str | os.PathLike[str] = 'results', *, store: str = '') -> Record"),
      "The run that has this name.");
}

}  // namespace infermeter::python
