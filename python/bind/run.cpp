// run(): a plan measured for a Python program.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>

#include "cli/output/output_file.hpp"
#include "infermeter/infermeter.hpp"
#include "python/bind/calling_thread.hpp"
#include "python/bind/errors.hpp"
#include "python/bind/launcher.hpp"
#include "python/bind/parts.hpp"
#include "python/bind/record.hpp"
#include "python/bind/settings.hpp"
#include "python/live.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

// What is going on, for as long as Python keeps it.
struct ProgressNow {
  std::size_t trial = 0, trials = 0;
  Purpose purpose{};
  std::string label;
  Phase phase{};
  std::int64_t iterations_done = 0;
  std::optional<LoadNow> load;
  std::optional<double> seconds_left;
  std::shared_ptr<Trial> finished;
  std::shared_ptr<ComparisonVerdict> comparison;
  std::string note;
};

ProgressNow copy_of_progress(const Progress& progress) {
  ProgressNow now{.trial = progress.trial,
                  .trials = progress.trials,
                  .purpose = progress.purpose,
                  .label = progress.subject == nullptr ? "" : progress.subject->label,
                  .phase = progress.phase,
                  .iterations_done = progress.iterations_done,
                  .load = progress.load,
                  .seconds_left = progress.seconds_left,
                  .finished = {},
                  .comparison = {},
                  .note = progress.note};
  if (progress.finished != nullptr) now.finished = own_trial(*progress.finished, now.label);
  if (progress.comparison != nullptr) now.comparison = std::make_shared<ComparisonVerdict>(*progress.comparison);
  return now;
}

// What is to be measured: a plan, what is left of an interrupted run, or a race of settings.
struct Request {
  Plan plan{};  // of a run that is resumed by its own plan: no subjects, and what it is allowed
  std::optional<std::string> resume{};
  std::optional<TuningRequest> tuning{};
  PlanDraft settings{};  // of the race
};

// What is said before a race begins is progress with nothing but a note.
std::function<void(const std::string&)> note_of(const RunContext& context) {
  return [&context](const std::string& note) {
    Progress now;
    now.note = note;
    if (context.on_progress) context.on_progress(now);
  };
}

Result<Plan> plan_of(const Request& request, const RunContext& context) {
  const Plan& asked = request.plan;
  if (!request.resume || !asked.subjects.empty()) return asked;
  INFERMETER_TRY(auto store, Store::open(asked, Store::Mode::read, context.interrupt));
  INFERMETER_TRY(RunRecord record, store.load_run(*request.resume));
  INFERMETER_TRY_DONE(check_own_plan(record, asked));
  record.plan.output_dir = asked.output_dir;
  record.plan.store = asked.store;
  return std::move(record.plan);
}

Result<RunRecord> race(const Request& request, RunContext context) {
  const TuningContext preparing{.launcher = context.launcher,
                                .cache = context.cache,
                                .interrupt = context.interrupt,
                                .on_note = note_of(context)};
  INFERMETER_TRY_DONE(check_folder_to_be("--output-dir", request.settings.plan.output_dir));
  INFERMETER_TRY(PreparedTuning prepared, prepare_tuning(*request.tuning, request.settings, preparing));
  context.models = std::move(prepared.models);
  context.is_checked = context.keeps_refusals = true;
  return run(std::move(prepared.plan), context);
}

Result<RunRecord> measure(const Request& request, const RunContext& context) {
  if (request.tuning) return race(request, context);
  INFERMETER_TRY(Plan plan, plan_of(request, context));
  INFERMETER_TRY_DONE(check_folder_to_be("--output-dir", plan.output_dir));
  return run(std::move(plan), context, request.resume);
}

// What was measured until then goes with the exception, as its attribute `record`.
[[noreturn]] void raise_interruption(const nb::object& exception, Result<RunRecord>&& record) {
  if (record.ok()) exception.attr("record") = std::make_shared<MeasuredRun>(std::move(record).value());
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

// Live subjects are measured by the thread that called, all others without it.
void call_for_live_trials(RunContext& context, CallingThread& caller) {
  if (!context.trial) return;
  context.trial = [&context, &caller, live_trial = std::move(context.trial)](
                      const Launcher& launcher, const TrialJob& job, const TrialHooks& hooks) {
    if (!context.models.contains(job.subject.model)) return run_trial(launcher, job, hooks);
    TrialResult result;
    caller.call([&] { result = live_trial(launcher, job, hooks); });
    return result;
  };
}

std::shared_ptr<MeasuredRun> measured(const Request& request, const nb::object& progress, const std::string& command,
                                      const nb::object& live) {
  CallingThread caller;
  RunContext context;
  context.launcher = value_or_raise(launcher_of_this_python(request.plan.backend_path));
  context.cache = default_cache();
  context.interrupt = &caller.interrupt();
  context.command = command;
  if (!progress.is_none()) {
    context.on_progress = [&](const Progress& now) { caller.call([&] { progress(copy_of_progress(now)); }); };
  }
  LiveSubjects live_subjects(live);
  live_subjects.attach(context, caller.interrupt());
  call_for_live_trials(context, caller);
  Result<RunRecord> record = caller.result_of([&] { return measure(request, context); });
  if (caller.exception().is_valid()) raise_interruption(caller.exception(), std::move(record));
  if (live_subjects.interruption().is_valid()) raise_interruption(live_subjects.interruption(), std::move(record));
  return std::make_shared<MeasuredRun>(value_or_raise(std::move(record)));
}

std::shared_ptr<MeasuredRun> run_plan(const Plan& plan, const nb::object& progress,
                                      const std::optional<std::string>& resume, const std::string& command,
                                      const nb::object& live) {
  return measured({.plan = plan, .resume = resume}, progress, command, live);
}

std::shared_ptr<MeasuredRun> tune(const std::string& model, const std::vector<std::string>& over,
                                  const std::string& objective, const std::vector<std::string>& constraints,
                                  const std::string& indifference, const nb::dict& settings, const nb::object& progress,
                                  const std::string& command) {
  Request request{.tuning = TuningRequest{.model = model,
                                          .over = over,
                                          .objective = objective,
                                          .constraints = constraints,
                                          .indifference = indifference}};
  value_or_raise(apply_settings(request.settings, settings));
  request.plan.backend_path = request.settings.plan.backend_path;
  return measured(request, progress, command, nb::none());
}

std::shared_ptr<MeasuredRun> resume_run(const std::string& run, const std::filesystem::path& output_dir,
                                        bool allow_code, const std::string& sandbox, const nb::object& progress,
                                        const std::string& command, const std::string& store) {
  const Plan asked{.sandbox = value_or_raise(sandbox_from_string(sandbox)),
                   .output_dir = output_dir.string(),
                   .store = store,
                   .allow_code = allow_code};
  return measured({.plan = asked, .resume = run}, progress, command, nb::none());
}

// What the terminal's line shows, in as many columns.
std::string load_text(const ProgressNow& p, std::size_t width) {
  if (!p.load || p.phase != Phase::timed) return "";
  return load_now_text(fmt::format("[{}/{}] {}: ", p.trial + 1, p.trials, printable(p.label, width / 2)), *p.load,
                       p.seconds_left, width);
}

void bind_progress(nb::module_& module) {
  nb::class_<LoadNow>(module, "LoadNow", "What a load does at the moment; rate and times are those of recent requests.")
      .def_ro("rate", &LoadNow::rate, "Requests that succeeded per second; None: too few.")
      .def_ro("in_flight", &LoadNow::in_flight)
      .def_ro("failed", &LoadNow::failed, "Since the load began.")
      .def_ro("response_p50", &LoadNow::response_p50_s, "Seconds; None: too few requests.")
      .def_ro("response_p99", &LoadNow::response_p99_s, "Seconds; None: too few requests.");
  nb::class_<ProgressNow>(module, "Progress", "What is going on in a run.")
      .def_ro("trial", &ProgressNow::trial, "Position in the plan's order, from 0.")
      .def_ro("trials", &ProgressNow::trials)
      .def_prop_ro(
          "purpose", [](const ProgressNow& p) { return to_string(p.purpose); }, "\"timed\", \"pilot\" or \"leak\".")
      .def_ro("label", &ProgressNow::label, "Of the subject; empty where there is none.")
      .def_prop_ro("phase", [](const ProgressNow& p) { return to_string(p.phase); })
      .def_ro("iterations_done", &ProgressNow::iterations_done)
      .def_ro("load", &ProgressNow::load, "Of a subject under load, while it is measured; else None.")
      .def("load_text", load_text, nb::arg("width"),
           "The line that a terminal of so many columns shows of a load; empty where none is measured.")
      .def_ro("seconds_left", &ProgressNow::seconds_left,
              "Of the whole run, or of the pilots while they run; None: it cannot be determined yet.")
      .def_ro("finished", &ProgressNow::finished, "The samples, once, when this trial has ended; else None.")
      .def_ro("comparison", &ProgressNow::comparison,
              "What the pairs so far say, once, when a pair has ended; else None.")
      .def_ro("note", &ProgressNow::note, "A sentence that is worth a line of its own: what pilots showed.")
      .def("__repr__", [](const ProgressNow& p) {
        if (!p.note.empty()) return fmt::format("<Progress: {}>", p.note);
        return fmt::format("<Progress {}/{} {}: {}, {} iterations>", p.trial + 1, p.trials, p.label, to_string(p.phase),
                           p.iterations_done);
      });
}

}  // namespace

void bind_run(nb::module_& module) {
  bind_progress(module);
  module.def(
      "run", run_plan, nb::arg("plan"), nb::kw_only(), nb::arg("progress") = nb::none(), nb::arg("resume") = nb::none(),
      nb::arg("command") = "", nb::arg("live") = nb::none(),
      nb::sig("def run(plan: Plan, *, progress: collections.abc.Callable[[Progress], object] | None = None, resume: "
              "str | None = None, command: str = '', live: dict[str, object] | None = None) -> Record"),
      "Measures the plan's trials in worker processes and keeps each in the store as it ends. Ctrl-C ends the "
      "current iteration; KeyboardInterrupt then has the record so far as its attribute `record`.");
  module.def(
      "tune", tune, nb::arg("model"), nb::kw_only(), nb::arg("over"), nb::arg("objective"), nb::arg("constraints"),
      nb::arg("indifference"), nb::arg("settings"), nb::arg("progress") = nb::none(), nb::arg("command") = "",
      nb::sig("def tune(model: str, *, over: list[str], objective: str, constraints: list[str], indifference: "
              "str, settings: dict[str, object], progress: collections.abc.Callable[[Progress], object] | None = "
              "None, command: str = '') -> Record"),
      "A race of settings; `infermeter.tune` says how.");
  module.def("resume_run", resume_run, nb::arg("run"), nb::kw_only(),
             nb::arg("output_dir") = std::filesystem::path("results"), nb::arg("allow_code") = false,
             nb::arg("sandbox") = "auto", nb::arg("progress") = nb::none(), nb::arg("command") = "",
             nb::arg("store") = "",
             nb::sig("def resume_run(run: str, *, output_dir: str | os.PathLike[str] = 'results', allow_code: bool = "
                     "False, sandbox: str = 'auto', progress: collections.abc.Callable[[Progress], object] | None = "
                     "None, command: str = '', store: str = '') -> Record"),
             "Finishes an interrupted run by its own plan: one that loads code, or whose sandbox is weaker, only if "
             "that is allowed here.");
}

}  // namespace infermeter::python
