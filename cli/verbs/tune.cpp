// infermeter tune: which settings of a model are best here? A race of fresh processes with a known error rate.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/flags/choose_backends.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/measure_and_report.hpp"
#include "cli/measure_plan.hpp"
#include "cli/output/help.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/plan/setting.hpp"
#include "infermeter/plan/tuning/space.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/run/run.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/trial/machine/peaks.hpp"
#include "infermeter/verdict/tuning/constraints.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {
namespace {

constexpr const char* kTried = "What is tried";
constexpr const char* kBest = "What is best";

struct TuneOptions {
  std::string model;
  std::vector<std::string> over, constraints;
  std::string objective = "latency_p50", indifference = "2%", budget;
  std::string winner_file;  // --write-plan
  SomeFlags flags;
  ReportOutput output;
  bool dry_run = false;
  VerbosityFlags verbosity;
};

HelpText tune_help() {
  return {
      .usage = "infermeter tune MODEL [flags]",
      .about =
          "Finds the best settings of a model on this machine: back end, threads, batch size, options. The settings "
          "race "
          "in blocks of one fresh process each, in random order; those that are shown to be worse than the best leave "
          "the race, with one error rate for all of them and all looks. Fresh pairs of processes, which had no part in "
          "choosing the best, tell how much better it is than the first setting and than the second best. Outputs "
          "are compared first: a setting that answers something else is left out.",
      .examples =
          {{"infermeter tune model.onnx", "Each back end that reads it, its threads and its options, one at a time."},
           {"infermeter tune resnet50 --over backend=onnxruntime,openvino threads=1,2 batch_size=1,4 --objective "
            "throughput",
            "Every combination of these values; the first ones are those in use today."},
           {"infermeter tune resnet50 --over backend=openvino num_streams=1,2 batch_size=1,4,8 --objective throughput "
            "--subject-to 'latency_p99 <= 50ms' 'peak_memory < 1GB'",
            "The most throughput within limits on latency and memory."},
           {"infermeter tune mlp --over model=mlp,small.onnx backend=onnxruntime --subject-to 'accuracy_drop <= 0.01' "
            "--data test.npy --labels labels.txt",
            "Model files that answer differently, by their accuracy."},
           {"infermeter tune resnet50 --budget 5m --write-plan best.toml",
            "The best setting as a plan file: `infermeter run --plan best.toml`."}},
      .notes = {
          "Gains are reported against the first setting, the first value of each key: put what you use today first.",
          "Settings that cannot be run here (a precision that the device lacks) are left out before anything runs, and "
          "the report says why. What fails in the race leaves it.",
          "Of more than 60 settings 60 are drawn that lie far apart (--seed); single processes halve them to a dozen "
          "that race. The report then says that it was a search.",
          "Constraints are written as in gate files (docs/gate.md): latency_p99 <= 50ms, throughput >= 100, "
          "peak_memory "
          "< 1GB, model_size < 30MB, accuracy_drop <= 0.01.",
          "Latency is that of one inference, whatever its batch; throughput counts items.",
          "An interrupted race is finished with `infermeter run --resume`; `infermeter report` prints its report "
          "again.",
          "Exit code 0: a setting is best, or leads when the budget is spent; 1: none is left.", kExitCodes}};
}

void declare_tune_flags(CLI::App& app, TuneOptions& options) {
  app.add_option("MODEL", options.model,
                 "A name from the zoo (`infermeter models`), a file, or Python code (FILE.py:FACTORY); "
                 "MODEL@BACKEND,key=value… says what is the same for all settings.")
      ->type_name("")
      ->required()
      ->group(kTried);
  app.add_option(
         "--over", options.over,
         "The values to try: backend, threads, batch_size, dtype, device, model, dim.NAME, load.KEY, or an option of "
         "a back end. threads=1..4 are the numbers from 1 to 4. Every combination is tried. Default: see above.")
      ->type_name("KEY=V1,V2…")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->group(kTried);
  app.add_option("--objective", options.objective,
                 "latency_p50 (default), latency_p90, latency_p99, throughput, peak_memory, load_time, model_size; "
                 "with --load also response_p99, achieved_rate, max_rate and the like (docs/load.md).")
      ->type_name("NAME")
      ->group(kBest);
  app.add_option("--subject-to", options.constraints, "What the best setting must keep to: 'latency_p99 <= 50ms'.")
      ->type_name("CONDITION…")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->group(kBest);
  app.add_option("--indifference", options.indifference,
                 "Settings within this share of the best are as good. Default: 2%.")
      ->type_name("SHARE")
      ->group(kBest);
  app.add_option("--budget", options.budget, "Time of all processes: pilots, race, confirmation. Default: 15m.")
      ->type_name("TIME")
      ->group(kBest);
  options.flags.declare(
      app, {"alpha",        "device",       "dimensions", "batch_axis", "options",    "load",         "env",
            "backend_path", "allow_code",   "warmup",     "iterations", "duration",   "seed",         "data_seed",
            "cpus",         "outliers",     "data",       "labels",     "data_limit", "distribution", "load_timeout",
            "run_timeout",  "memory_limit", "sandbox",    "output_dir", "format"});
  options.output.declare(app);
  app.add_option("--write-plan", options.winner_file,
                 "Write the best setting to a plan file, for `infermeter run --plan`.")
      ->type_name("FILE")
      ->group("Results");
  app.add_flag("--dry-run", options.dry_run, "Show what would race, and what is left out. Measures nothing.")
      ->group("Running");
  options.verbosity.declare(app, "Running");
}

Result<Tuning> tuning_of(const TuneOptions& options, const PlanDraft& draft) {
  Tuning tuning;
  const auto named = [](std::string_view flag, const Error& error) {
    return usage_error(fmt::format("{}: {}", flag, error.message));
  };
  auto objective = objective_from_string(options.objective);
  if (!objective.ok()) return named("--objective", objective.error());
  tuning.objective = std::move(*objective);
  const auto indifference = share_from_string(options.indifference);
  if (!indifference.ok()) return named("--indifference", indifference.error());
  tuning.indifference = *indifference;
  tuning.alpha = draft.question.alpha;
  tuning.budget_s = draft.question.budget_s.value_or(tuning.budget_s);
  tuning.constraints = options.constraints;
  INFERMETER_TRY_DONE(bounds_of(tuning));
  return tuning;
}

// The model, and what MODEL@BACKEND,key=value says besides; what the draft's sources say of every subject.
Result<SubjectDraft> base_of(const TuneOptions& options, const PlanDraft& draft) {
  SubjectDraft base;
  std::error_code error;
  if (options.model.find('@') != std::string::npos && !std::filesystem::exists(options.model, error)) {
    INFERMETER_TRY(base, subject_draft_from_string(options.model));
  } else {
    base.model = options.model;
  }
  if (!base.batch_size && !draft.batch_sizes.empty()) base.batch_size = draft.batch_sizes.front();
  if (!base.dtype && !draft.dtypes.empty()) base.dtype = draft.dtypes.front();
  if (!base.threads && !draft.threads.empty()) base.threads = draft.threads.front();
  return base;
}

std::vector<TunableBackend> tunable(const std::vector<BackendInfo>& backends, const std::vector<std::string>& names) {
  std::vector<TunableBackend> found;
  for (const std::string& name : names) {
    const auto info = std::ranges::find(backends, name, &BackendInfo::name);
    TunableBackend one{.name = name, .options = {}};
    if (info != backends.end()) {
      for (const BackendOption& option : info->options) one.options.emplace_back(option.key, option.values);
    }
    found.push_back(std::move(one));
  }
  return found;
}

const TunedKey* key_of(const std::vector<TunedKey>& keys, std::string_view key) {
  const auto found = std::ranges::find(keys, key, &TunedKey::key);
  return found == keys.end() ? nullptr : &*found;
}

// Those named, or all that read the model, which is said.
Result<std::vector<TunableBackend>> backends_of(Surroundings& world, const TuneOptions& options,
                                                const SubjectDraft& base, const std::vector<TunedKey>& keys,
                                                const PlanDraft& draft, const Launcher& launcher) {
  const ProbeOptions probing{.sandbox = draft.plan.sandbox, .interrupt = world.interrupt};
  std::vector<std::string> names;
  if (!base.backend.empty()) names = {base.backend};
  if (const TunedKey* named = key_of(keys, "backend")) names = named->values;
  if (!names.empty()) return tunable(probe_backends(launcher, names, probing), names);
  PlanDraft asked = draft;
  asked.backends.clear();
  asked.models = {base.model};
  if (const TunedKey* models = key_of(keys, "model")) asked.models = models->values;
  const std::vector<BackendInfo> found = probe_backends(launcher, probing);
  INFERMETER_TRY_DONE(choose_among(world, asked, found, options.verbosity.level()));
  return tunable(found, asked.backends);
}

Result<TuningSpace> space_of(Surroundings& world, const TuneOptions& options, PlanDraft& draft,
                             const Launcher& launcher) {
  INFERMETER_TRY(std::vector<TunedKey> keys, tuned_keys(options.over));
  INFERMETER_TRY(const SubjectDraft base, base_of(options, draft));
  INFERMETER_TRY(const std::vector<TunableBackend> backends, backends_of(world, options, base, keys, draft, launcher));
  std::vector<std::string> names;
  for (const TunableBackend& backend : backends) names.push_back(backend.name);
  if (keys.empty()) {
    const auto processors = draft.plan.cpus.empty() ? processors_by_core().size() : draft.plan.cpus.size();
    TuningSpace space = single_changes(base, backends, static_cast<int>(processors));
    if (options.verbosity.level() != Verbosity::quiet) {
      world.err << fmt::format(
          "{} settings: {} as {}, with fewer threads, and with one option changed to each value of its list (--over "
          "names others)\n",
          space.settings.size(), fmt::join(names, ", "), names.size() == 1 ? "it is" : "they are");
    }
    return space;
  }
  if (key_of(keys, "backend") == nullptr) keys.insert(keys.begin(), {.key = "backend", .values = names});
  if (!draft.plan.seed) draft.plan.seed = drawn_seed();
  return combinations(base, keys, backends, *draft.plan.seed);
}

// Blocks of the plan: those that halve the field where it was drawn, those of the race, those that confirm.
void set_blocks(Plan& plan, std::uint64_t all) {
  Tuning& tuning = *plan.tuning;
  constexpr int halving = 1 + 2 + 4;
  tuning.settings = all;
  tuning.halving_blocks = all > plan.subjects.size() + tuning.left_out.size() ? halving : 0;
  plan.repeat_disturbed = plan.profiling.processes = 0;
  plan.leak_iterations = 0;
  plan.processes = tuning.halving_blocks + tuning.race_blocks + tuning.confirmation_pairs;
  order_trials(plan);
}

Result<Plan> plan_of_settings(const PlanDraft& draft, const std::vector<SubjectDraft>& settings) {
  PlanDraft one_by_one = draft;
  one_by_one.models.clear();
  one_by_one.backends.clear();
  one_by_one.batch_sizes.clear();
  one_by_one.dtypes.clear();
  one_by_one.threads.clear();
  one_by_one.subjects = settings;
  return make_plan(one_by_one);
}

Error nothing_to_race(const std::vector<SubjectDraft>& left, const Plan& plan, const Pairs& left_out) {
  std::string text = left.empty() ? "no setting can be measured here"
                                  : fmt::format(
                                        "a race wants at least two settings, and only '{}' can be measured: "
                                        "name more values (--over)",
                                        plan.subjects.front().label);
  for (const auto& [setting, reason] : left_out) text += fmt::format("\n- left out: {}: {}", setting, reason);
  return usage_error(std::move(text));
}

struct RacedPlan {
  Plan plan;
  std::map<std::string, ModelFacts> models;
};

// What is wrong with every setting is wrong with what they have in common.
bool is_of_all(const std::vector<std::string>& refusals) {
  return !refusals.empty() && !refusals.front().empty() &&
         std::ranges::all_of(refusals, [&](const std::string& refusal) { return refusal == refusals.front(); });
}

// Without what this machine, or a back end, cannot do. `problems`: what is known to be wrong besides.
Result<RacedPlan> raced_plan(const Surroundings& world, const PlanDraft& draft, const TuningSpace& space,
                             const Tuning& tuning, const Launcher& launcher, const Problems& problems) {
  INFERMETER_TRY(Plan plan, plan_of_settings(draft, space.settings));
  RunCheck check = check_run(plan, {.launcher = launcher, .cache = default_cache(), .interrupt = world.interrupt},
                             {.by_subject = true});
  if (is_of_all(check.refusals)) check.problems.add(usage_error(check.refusals.front()));
  check.problems.add_all(problems);
  INFERMETER_TRY_DONE(check.problems.result());
  std::vector<SubjectDraft> settings;
  Pairs left_out = space.left_out;
  for (std::size_t i = 0; i < space.settings.size(); ++i) {
    if (check.refusals[i].empty()) {
      settings.push_back(space.settings[i]);
    } else {
      left_out.emplace_back(plan.subjects[i].label, check.refusals[i]);
    }
  }
  if (settings.size() < 2) return nothing_to_race(settings, plan, left_out);
  INFERMETER_TRY(plan, plan_of_settings(draft, settings));
  plan.tuning = tuning;
  plan.tuning->left_out = std::move(left_out);
  set_blocks(plan, space.all);
  INFERMETER_TRY_DONE(check_plan(plan));
  INFERMETER_TRY_DONE(check_objective(plan));
  return RacedPlan{std::move(plan), std::move(check.models)};
}

Result<int> tune_action(Surroundings& world, const TuneOptions& options) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  if (!options.budget.empty()) {
    const auto set = apply_setting(*find_setting("budget"), draft, std::vector{options.budget});
    if (!set.ok()) return usage_error("--budget: " + set.error().message);
  }
  INFERMETER_TRY_DONE(use_fixed_processes(draft));
  ReportOutput output = options.output;
  INFERMETER_TRY(const Format format, output.settle(draft, options.flags.other_names()));
  INFERMETER_TRY(const Tuning tuning, tuning_of(options, draft));
  INFERMETER_TRY(const Launcher launcher, find_launcher(draft.plan.backend_path));
  INFERMETER_TRY(const TuningSpace space, space_of(world, options, draft, launcher));
  MeasureRequest request{.plan = draft.plan,
                         .format = format,
                         .dry_run = options.dry_run,
                         .verbosity = options.verbosity.level(),
                         .winner_file = options.winner_file,
                         .keeps_refusals = true};
  Problems problems;
  check_results_folder(draft.plan.output_dir, problems);
  check_files(request, output, problems);
  INFERMETER_TRY(RacedPlan raced, raced_plan(world, draft, space, tuning, launcher, problems));
  request.plan = std::move(raced.plan);
  request.models = std::move(raced.models);
  return measure_and_report(world, std::move(request), output);
}

}  // namespace

Action declare_tune(CLI::App& app) {
  auto options = std::make_shared<TuneOptions>();
  set_help(app, tune_help());
  declare_tune_flags(app, *options);
  return [options](Surroundings& world) { return tune_action(world, *options); };
}

}  // namespace infermeter
