// Plan and Subject, made from settings in Python or from a plan file's text.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "cli/output/output_file.hpp"
#include "infermeter/infermeter.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/parts.hpp"
#include "python/bind/settings.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

constexpr std::size_t kLargestPlanFile = 1 << 20;

Result<Plan> plan_from(PlanDraft draft, const nb::dict& settings) {
  if (settings.contains("format")) {
    return usage_error("'format' says nothing here: a record has every form (render, text, json, to_csv)");
  }
  INFERMETER_TRY_DONE(apply_settings(draft, settings));
  INFERMETER_TRY(Plan plan, make_plan(draft));
  if (!plan.question) return plan;
  const auto metric = metric_of_question(plan);
  if (!metric.ok()) return usage_error("metric: " + metric.error().message);
  plan.question->metric = *metric;
  return plan;
}

void init_plan(Plan* self, const nb::args& subjects,
               nb::kwargs settings) {  // NOLINT(performance-unnecessary-value-param): nanobind's way
  if (subjects.size() > 0) {
    if (settings.contains("subjects")) {
      raise(usage_error("subjects are given twice: as arguments and as 'subjects'"));
    }
    settings["subjects"] = nb::list(subjects);
  }
  new (self) Plan(value_or_raise(plan_from({}, settings)));
}

Result<Plan> plan_with_text(std::string_view text, std::string_view name, const nb::kwargs& settings) {
  PlanDraft draft;
  INFERMETER_TRY_DONE(apply_toml(draft, text, name));
  return plan_from(std::move(draft), settings);
}

Plan plan_from_toml_text(std::string_view text, std::string_view name, const nb::kwargs& settings) {
  return value_or_raise(plan_with_text(text, name, settings));
}

Plan plan_from_file(const std::filesystem::path& file, const nb::kwargs& settings) {
  const std::string text = value_or_raise(read_text_file(file, kLargestPlanFile, "plan file"));
  return value_or_raise(plan_with_text(text, file.string(), settings));
}

void bind_subject(nb::module_& module) {
  nb::class_<Subject>(module, "Subject", "One thing to be measured: a model on a back end.")
      .def_ro("label", &Subject::label, "Unique in its plan.")
      .def_ro("model", &Subject::model, "A name from the zoo, a path, or code.")
      .def_ro("backend", &Subject::backend)
      .def_ro("device", &Subject::device)
      .def_prop_ro(
          "dtype", [](const Subject& s) { return to_string(s.dtype); }, "\"float32\", \"float16\", \"bfloat16\".")
      .def_ro("batch_size", &Subject::batch_size, "Items per inference.")
      .def_ro("threads", &Subject::threads, "0: as many as there are processors that it may use.")
      .def_ro("dimensions", &Subject::dimensions)
      .def_ro("batch_axes", &Subject::batch_axes)
      .def_ro("options", &Subject::options, "The back end's own.")
      .def_ro("load", &Subject::load, "How requests arrive; empty: one inference after the other.")
      .def_ro("environment", &Subject::environment, "Variables of its worker.")
      .def_ro("backend_library", &Subject::backend_library)
      .def_ro("group", &Subject::group, "Subjects of one group are compared with its first one.")
      .def("__str__", [](const Subject& s) { return short_form(s); })
      .def("__repr__", [](const Subject& s) { return fmt::format("<Subject {}: {}>", s.label, short_form(s)); });
}

void bind_question(nb::module_& module) {
  nb::class_<Question>(module, "Question", "What a comparison is asked.")
      .def_ro("metric", &Question::metric)
      .def_ro("margin", &Question::margin, "Differences below this share do not matter.")
      .def_ro("alpha", &Question::alpha)
      .def_ro("until_resolved", &Question::until_resolved)
      .def_ro("all_pairs", &Question::all_pairs)
      .def_ro("drop_disturbed", &Question::drop_disturbed)
      .def_ro("budget_s", &Question::budget_s, "Seconds; None: no budget.");
}

using PlanClass = nb::class_<Plan>;

void bind_plan_fields(PlanClass& plan) {
  plan.def_ro("subjects", &Plan::subjects)
      .def_ro("processes", &Plan::processes, "Per subject; of a comparison, and of automatic length, the most.")
      .def_prop_ro(
          "automatic_processes", [](const Plan& p) { return p.automatic.processes; },
          "As many processes as answers take, 3 to 20.")
      .def_ro("precision", &Plan::precision, "The share within which differences and intervals are small enough.")
      .def_ro("budget_s", &Plan::budget_s, "Seconds; of automatic length: no round begins that would end later.")
      .def_ro("repeat_disturbed", &Plan::repeat_disturbed, "So many disturbed rounds are measured again, at most.")
      .def_prop_ro(
          "warmup", [](const Plan& p) { return p.automatic.warmup ? std::nullopt : std::optional(p.stopping.warmup); },
          "Untimed iterations; None: pilots tell.")
      .def_prop_ro(
          "count_first", [](const Plan& p) { return p.stopping.count_first; },
          "The first inference is timed and counts (warmup=\"none\").")
      .def_prop_ro(
          "iterations", [](const Plan& p) { return p.automatic.iterations ? std::nullopt : p.stopping.iterations; },
          "Timed iterations per process; None: pilots tell, or `duration_s` does.")
      .def_prop_ro(
          "duration_s", [](const Plan& p) { return p.stopping.duration_s; },
          "Seconds of timed iterations per process; None: `iterations` or pilots tell.")
      .def_ro("leak_iterations", &Plan::leak_iterations)
      .def_prop_ro("profile_processes", [](const Plan& self) { return self.profiling.processes; })
      .def_prop_ro("profile_iterations", [](const Plan& self) { return self.profiling.iterations; })
      .def_prop_ro("stacks", [](const Plan& self) { return std::string(to_string(self.profiling.stacks)); })
      .def_prop_ro("python_profiler", [](const Plan& self) { return std::string(to_string(self.profiling.python)); })
      .def_ro("question", &Plan::question, "None: it is not a comparison.")
      .def_ro("seed", &Plan::seed, "Of the order of trials; None: drawn when the run begins.")
      .def_prop_ro(
          "data_seed", [](const Plan& p) { return p.data.seed; }, "Of synthetic inputs.")
      .def_prop_ro(
          "data", [](const Plan& p) { return p.data.source; }, "\"synthetic\" or a path.")
      .def_prop_ro(
          "load_timeout_s", [](const Plan& p) { return p.limits.load_timeout_s; }, "Seconds.")
      .def_prop_ro(
          "run_timeout_s", [](const Plan& p) { return p.limits.run_timeout_s; }, "Seconds.")
      .def_prop_ro(
          "memory_limit_bytes", [](const Plan& p) { return p.limits.memory_limit_bytes; },
          "0: 80 % of what is available.")
      .def_prop_ro("outliers", [](const Plan& p) { return to_string(p.outliers); })
      .def_prop_ro("sandbox", [](const Plan& p) { return to_string(p.sandbox); })
      .def_ro("compare_outputs", &Plan::compare_outputs)
      .def_ro("cpus", &Plan::cpus, "Empty: all that this process may use.")
      .def_ro("output_dir", &Plan::output_dir)
      .def_ro("backend_path", &Plan::backend_path)
      .def_ro("allow_code", &Plan::allow_code)
      .def_prop_ro(
          "order",
          [](const Plan& p) {
            std::vector<std::pair<std::size_t, int>> order;
            for (const PlannedTrial& trial : p.order) order.emplace_back(trial.subject, trial.process);
            return order;
          },
          "The trials in their order: index of the subject, and which of its processes.");
}

}  // namespace

void bind_plan(nb::module_& module) {
  bind_subject(module);
  bind_question(module);
  PlanClass plan(
      module, "Plan",
      "Everything that is to be measured. Settings are the keys of plan files (docs/plan.md): iterations=100, "
      "duration=\"10s\" or 10.0 (seconds), batch_sizes=[1, 4], memory_limit=\"2GB\" or bytes; None is not said.");
  plan.def("__init__", init_plan, nb::arg("subjects"), nb::arg("settings"),
           nb::sig(
               "def __init__(self, *subjects: str | collections.abc.Mapping[str, object], **settings: object) -> None"),
           "Subjects are short forms (\"resnet50@openvino,threads=1\") or dicts with the keys of [[subject]].")
      .def_static("from_toml", plan_from_toml_text, nb::arg("text"), nb::arg("name") = "plan", nb::arg("settings"),
                  nb::sig("def from_toml(text: str, name: str = 'plan', **settings: object) -> Plan"),
                  "The plan that a plan file's text says; `name` is the file's, in messages. Settings beat it.")
      .def_static("from_file", plan_from_file, nb::arg("file"), nb::arg("settings"),
                  nb::sig("def from_file(file: str | os.PathLike[str], **settings: object) -> Plan"),
                  "The plan that a plan file says. Settings beat it.")
      .def(
          "to_json", [](const Plan& p) { return plan_to_json(p); }, "As the store keeps it.")
      .def(
          "__eq__", [](const Plan& a, const Plan& b) { return plan_to_json(a) == plan_to_json(b); }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [](const Plan& p) {
        return fmt::format("<Plan of {} subjects, {} processes each>", p.subjects.size(), p.processes);
      });
  bind_plan_fields(plan);
}

}  // namespace infermeter::python
