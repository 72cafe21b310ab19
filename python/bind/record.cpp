#include "python/bind/record.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "cli/output/output_file.hpp"
#include "infermeter/infermeter.hpp"
#include "infermeter/run/trial_failure.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

using SharedRun = std::shared_ptr<MeasuredRun>;

std::vector<Trial> views_of(const RunRecord& record, const std::vector<Samples>& samples) {
  std::vector<Trial> views;
  for (const Samples& one : samples) {
    const auto subject = static_cast<std::size_t>(one.subject);
    const bool known = subject < record.plan.subjects.size();
    views.push_back({.samples = &one, .label = known ? record.plan.subjects[subject].label : ""});
  }
  return views;
}

std::vector<std::shared_ptr<Trial>> shared(const SharedRun& run, std::vector<Trial>& trials) {
  std::vector<std::shared_ptr<Trial>> pointers;
  for (Trial& trial : trials) pointers.emplace_back(run, &trial);
  return pointers;
}

std::vector<std::shared_ptr<const TrialStacks>> stacks_of(const SharedRun& run) {
  std::vector<std::shared_ptr<const TrialStacks>> pointers;
  for (const TrialStacks& stacks : run->record().stacks) pointers.emplace_back(run, &stacks);
  return pointers;
}

ReportPart part_of_run(const MeasuredRun& run, bool samples) {
  return run_part(run.record(), run.verdict(), {.samples = samples});
}

std::string rendered_run(const MeasuredRun& run, std::string_view format, const RenderOptions& options) {
  return render(run.record(), run.verdict(), value_or_raise(format_from_string(format)), options);
}

std::string render_as(const MeasuredRun& run, std::string_view format, std::size_t width, bool color, bool samples) {
  return rendered_run(run, format, {.color = color, .width = width, .samples = samples});
}

nb::object as_dict(const MeasuredRun& run, bool samples) {
  return nb::module_::import_("json").attr("loads")(rendered_run(run, "json", {.samples = samples}));
}

std::vector<Recommendation> recommendations_of(const MeasuredRun& run, double least_change, double allowance) {
  if (!(least_change >= 0)) raise(usage_error("least_change: expected 0 or more"));
  if (!(allowance >= 0)) raise(usage_error("accuracy_allowance: expected 0 or more"));
  const RecommendOptions options{.least_change = least_change, .accuracy_allowance = allowance};
  std::vector<Recommendation> all;
  for (const SubjectVerdict& subject : run.verdict().subjects) {
    for (const Recommendation& one : recommend(run.record(), subject, options)) all.push_back(one);
  }
  return all;
}

void write_csv(const MeasuredRun& run, const std::filesystem::path& file) {
  value_or_raise(write_file(file, rendered_run(run, "csv", {}), true));
}

void write_run_page(const MeasuredRun& run, const std::filesystem::path& file, bool samples) {
  value_or_raise(write_file(file, rendered_run(run, "html", {.samples = samples}), true));
}

nb::object as_frame(nb::handle_t<MeasuredRun> self, bool iterations) {
  return nb::module_::import_("infermeter.record").attr("frame_of")(self, iterations);
}

// Where what live objects raised is kept. A dict of Python's own, so that cycles through tracebacks are collected.
nb::object errors_of(nb::handle_t<MeasuredRun> self) {
  return self.attr("__dict__").attr("setdefault")("errors", nb::dict());
}

// A run goes on when a trial fails, and is a record all the same: whoever wants an exception asks for it.
void raise_failure(const MeasuredRun& run) {
  for (const Samples& trial : run.record().trials) {
    if (trial.end == TrialEnd::ok || trial.end == TrialEnd::interrupted) continue;
    raise(trial_failure(trial, run.record().plan.subjects[static_cast<std::size_t>(trial.subject)].label));
  }
}

using RecordClass = nb::class_<MeasuredRun>;

void bind_reports(RecordClass& record) {
  record
      .def("render", render_as, nb::arg("format") = "table", nb::kw_only(), nb::arg("width") = 80,
           nb::arg("color") = false, nb::arg("samples") = true,
           "The report as text: \"table\", \"json\", \"csv\", \"markdown\", \"html\", \"latex\", \"openmetrics\", "
           "\"bencher\" or \"google-benchmark\" (docs/files.md); `width` of the table in "
           "columns, `samples`: JSON and the page with every iteration.")
      .def(
          "text",
          [](const MeasuredRun& run, std::size_t width) { return rendered_run(run, "table", {.width = width}); },
          nb::arg("width") = 80, "The report as a table, for people.")
      .def("json", as_dict, nb::kw_only(), nb::arg("samples") = true,
           nb::sig("def json(self, *, samples: bool = True) -> dict[str, typing.Any]"),
           "The report as a dict (docs/schema/run.schema.json): seconds, bytes, items per second.")
      .def("to_csv", write_csv, nb::arg("file"), nb::sig("def to_csv(self, file: str | os.PathLike[str]) -> None"),
           "Writes a row per subject (docs/files.md); whole, over what was there.")
      .def("to_html", write_run_page, nb::arg("file"), nb::kw_only(), nb::arg("samples") = true,
           nb::sig("def to_html(self, file: str | os.PathLike[str], *, samples: bool = True) -> None"),
           "Writes the page that `infermeter run --html` writes; whole, over what was there. `samples`: with every "
           "iteration. Of several runs in one page: infermeter.write_html.")
      .def("report_part", part_of_run, nb::arg("samples") = true, "For infermeter.write_html.")
      .def("to_dataframe", as_frame, nb::kw_only(), nb::arg("iterations") = false,
           nb::sig("def to_dataframe(self, *, iterations: bool = False) -> pandas.DataFrame"),
           "A pandas.DataFrame: a row per subject with the columns of the CSV report, or per timed iteration with "
           "label, process, iteration, begin_s, end_s and latency_s.")
      .def("recommendations", recommendations_of, nb::kw_only(), nb::arg("least_change") = 0.01,
           nb::arg("accuracy_allowance") = 0.001,
           "What each subject is better and worse at than its baseline, as far as it can be determined. "
           "`least_change`: of "
           "time, memory and size, that is worth a word; `accuracy_allowance`: a loss within it is none.")
      .def(
          "recommendations_text",
          [](const MeasuredRun& run) { return recommendations_text(run.record(), run.verdict()); },
          "The same for people; empty: there are none.")
      .def(
          "_repr_html_", [](const MeasuredRun& run) { return render_notebook(run.record(), run.verdict()); },
          "What a notebook shows: the answers, a picture of the changes, the tables.")
      .def("__str__", [](const MeasuredRun& run) { return rendered_run(run, "table", {.width = 80}); });
}

void bind_record_fields(RecordClass& record) {
  const auto inside = nb::rv_policy::reference_internal;
  record.def_prop_ro("id", [](const MeasuredRun& run) { return run.record().id; })
      .def_prop_ro(
          "created_at", [](const MeasuredRun& run) { return run.record().created_at; }, "Seconds since 1970, UTC.")
      .def_prop_ro(
          "finished", [](const MeasuredRun& run) { return run.record().finished; },
          "False: it was interrupted, and run(resume=id) finishes it.")
      .def_prop_ro(
          "plan", [](const MeasuredRun& run) -> const Plan& { return run.record().plan; }, inside)
      .def_prop_ro(
          "environment", [](const MeasuredRun& run) -> const Environment& { return run.record().environment; }, inside)
      .def_prop_ro(
          "models", [](const MeasuredRun& run) -> const std::vector<ModelFacts>& { return run.record().models; },
          inside, "One per subject, in their order.")
      .def_prop_ro(
          "samples", [](const SharedRun& run) { return shared(run, run->trials()); },
          "Of the timed trials, in the order in which they ran.")
      .def_prop_ro(
          "side_samples", [](const SharedRun& run) { return shared(run, run->side_trials()); },
          "Of pilots, leak trials and profile trials: no figure is made from them.")
      .def_prop_ro("stacks", stacks_of,
                   "What the workers of profile trials were seen at, in the order in which they ran; empty: nothing "
                   "was asked for, or reported (`diagnostics` of `side_samples` say why).")
      .def_prop_ro(
          "outputs", [](const MeasuredRun& run) -> const std::vector<SubjectOutputs>& { return run.record().outputs; },
          inside, "Compared with those of each group's first subject.")
      .def_prop_ro(
          "accuracy",
          [](const MeasuredRun& run) -> const std::vector<SubjectAccuracy>& { return run.record().accuracy; }, inside,
          "Of the subjects with labels.")
      .def_prop_ro(
          "diagnostics",
          [](const MeasuredRun& run) -> const std::vector<Diagnostic>& { return run.record().diagnostics; }, inside,
          "Of the whole run; `verdict.diagnostics` has all.")
      .def_prop_ro("errors", errors_of, nb::sig("def errors(self) -> dict[str, BaseException | None]"),
                   "Label -> what a live object raised.")
      .def_prop_ro("verdict", [](const MeasuredRun& run) -> const Verdict& { return run.verdict(); }, inside);
}

}  // namespace

MeasuredRun::MeasuredRun(RunRecord record)
    : record_(std::move(record)),
      trials_(views_of(record_, record_.trials)),
      side_trials_(views_of(record_, record_.side_trials)) {}

const Verdict& MeasuredRun::verdict() const {
  if (verdict_ == nullptr) verdict_ = std::make_unique<Verdict>(judge(record_));
  return *verdict_;
}

void bind_record(nb::module_& module) {
  RecordClass record(module, "Record", nb::dynamic_attr(), "Everything that a run leaves, and what it says.");
  bind_record_fields(record);
  bind_reports(record);
  record.def("raise_failure", raise_failure,
             "Raises what the first trial that failed deserves: ModelError, WorkerError or UsageError.");
  record.def("__repr__", [](const MeasuredRun& run) {
    return fmt::format("<Record {}: {} subjects, {} trials{}>", run.record().id, run.record().plan.subjects.size(),
                       run.record().trials.size(), run.record().finished ? "" : ", not finished");
  });
}

}  // namespace infermeter::python
