// infermeter variants: makes and measures a model's variants, and says which are worth having.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>

#include "cli/cluster_run.hpp"
#include "cli/flags/cluster_flags.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/measure_plan.hpp"
#include "cli/output/dry_run.hpp"
#include "cli/output/help.hpp"
#include "cli/output/made_files.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/fleet/slurm.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/setting.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/variants/variants.hpp"

namespace infermeter {
namespace {

constexpr const char* kWhich = "Which variants";
constexpr const char* kOtherNames = "Other names, of earlier tools";

struct VariantsOptions {
  VariantsRequest request;
  SomeFlags flags;
  ReportOutput output;
  ClusterFlags cluster;
  std::string config, teacher, checkpoint;  // other names of MODEL, or of its factory and its weights
  std::vector<std::string> shares;
  bool all_phases = false, dry_run = false;
  std::string resume;
  double making_timeout_s = 600;
  std::string save_path;  // of copies of what is made; empty: none
  VerbosityFlags verbosity;

  [[nodiscard]] MadeFiles made_files() const { return {.path = save_path, .force = output.force}; }
};

HelpText variants_help() {
  return {
      .usage = "infermeter variants MODEL [flags]",
      .about =
          "Makes variants of a model (float16, int8, pruned, …), measures each of them and the original, compares "
          "outputs and accuracy, and reports which are on the Pareto front of accuracy, speed, memory and size, with "
          "recommendations. Files are made by the runtimes' own tools, each in a separate process, and kept in the "
          "cache. A variant that cannot be made or run is listed with the reason; the others are still measured.",
      .examples =
          {{"infermeter variants resnet50", "float32, float16, bfloat16 and int8 on each back end that supports them."},
           {"infermeter variants resnet50 --html variants.html",
            "The same, with an HTML page that shows the trade-offs."},
           {"infermeter variants model.onnx --precisions int8 --calibration images/ --data test.npy --labels "
            "labels.txt",
            "Calibrated on some images, evaluated on others with labels."},
           {"infermeter variants resnet50 --precisions float32 --graph-opt none,basic,extended,all --threads 1,2 "
            "--batch-sizes 1,8 --backends onnxruntime",
            "Variants by settings, not by files."},
           {"infermeter variants --models original:model.onnx,quantized:small.onnx",
            "Existing files; the first one is the baseline."},
           {"infermeter variants nets.py:make@pytorch --all-phases",
            "A PyTorch model: eager, channels_last, autocast, compile, dynamic_int8, and all of them stacked."},
           {"infermeter variants resnet50 --processes 8 --on slurm --wait",
            "Made here, and measured on nodes of a cluster; all variants of a block on one node."}},
      .notes = {"The first variant is the baseline: the original model in float32 on the first back end.",
                "Making variants needs the packages installed by `scripts/setup --with variants` (ONNX, NNCF). If one "
                "is missing, the variant is reported as failed and the others are still measured.",
                "The accuracy of int8 depends on the calibration data: use --calibration or --data. Synthetic data "
                "show speed, not accuracy.",
                "docs/variants.md explains each variant and each line of the report; `infermeter report RUN` prints "
                "the run like any other.",
                "Exit code 0: the baseline was measured; the report lists variants that failed.", kExitCodes}};
}

CLI::Option* add_list(CLI::App& app, const char* flags, std::vector<std::string>& values, const char* type,
                      const char* help) {
  return app.add_option(flags, values, help)->delimiter(',')->type_name(type)->group(kWhich);
}

void declare_which(CLI::App& app, VariantsOptions& options) {
  VariantsRequest& request = options.request;
  app.add_option("MODEL", request.model,
                 "A name from the zoo (`infermeter models`), a file, or Python code (FILE.py:FACTORY); MODEL@BACKEND "
                 "names its back end.")
      ->type_name("")
      ->group(kWhich);
  add_list(app, "--precisions", request.precisions, "TYPE,…",
           "float32, float16, bfloat16, int8; int4 of language models. Default: all.");
  add_list(app, "--quantise,--quantize", request.quantisations, "HOW,…",
           "How int8 is made: static, dynamic (ONNX Runtime), nncf (OpenVINO). Default: static,nncf.");
  add_list(app, "--prune", options.shares, "SHARE,…",
           "Also with this share of the smallest weights set to 0: 0.5, 50%.");
  add_list(app, "--prune-how", request.pruned_how, "HOW,…",
           "unstructured (default): single weights; structured: whole output channels, of PyTorch models.");
  app.add_option("--student", request.student,
                 "Also a smaller model distilled from MODEL, as the variant distilled: a file or FILE.py:FACTORY. It "
                 "is trained elsewhere and measured here.")
      ->type_name("MODEL")
      ->group(kWhich);
  add_list(app, "--graph-opt", request.graph_levels, "LEVEL,…",
           "none, basic, extended, all; for back ends with such levels.");
  add_list(app, "--phases", request.phases, "PHASE,…",
           "Of PyTorch: eager, channels_last, autocast, compile, dynamic_int8, stacked, phase1.");
  app.add_flag("--all-phases", options.all_phases, "All phases of PyTorch, and all of them combined.")->group(kWhich);
  add_list(app, "--backends,--backend,--framework", request.backends, "NAME,…",
           "Default: onnxruntime and openvino, if they can load the model; else one that can.");
  add_list(app, "--models", request.models, "NAME:FILE,…", "Existing files instead of MODEL, the baseline first.");
  app.add_option("--calibration", request.calibration,
                 "Calibration data for int8; as --data. Default: the value of --data.")
      ->type_name("SOURCE")
      ->group(kWhich);
  app.add_option("--calibration-items", request.calibration_items, "Maximum number of calibration items. Default: 32.")
      ->type_name("N")
      ->group(kWhich);
}

// Words of earlier tools for what is no setting (other_names.cpp has those of settings).
void declare_other_names(CLI::App& app, VariantsOptions& options) {
  options.flags.declare_other_names(app);
  app.add_option("--config,--model", options.config, "MODEL.")->type_name("")->group(kOtherNames);
  app.add_option("--teacher", options.teacher, "MODEL, of which --student is a smaller one.")
      ->type_name("")
      ->group(kOtherNames);
  app.add_option("--ckpt", options.checkpoint,
                 "MODEL, a checkpoint; --config is then the factory whose model takes its weights (--option factory=).")
      ->type_name("")
      ->group(kOtherNames);
  const auto phase = [&](const char* flag, const char* name, const char* help) {
    app.add_flag_callback(
           flag, [&options, name] { options.request.phases.emplace_back(name); }, help)
        ->group(kOtherNames);
  };
  phase("--baseline", "eager", "--phases eager.");
  phase("--phase1", "phase1", "--phases phase1: channels_last and compile.");
  phase("--phase2", "tensorrt", "--phases tensorrt, which is refused.");
  phase("--phase3", "dynamic_int8", "--phases dynamic_int8.");
}

void declare_variants_flags(CLI::App& app, VariantsOptions& options) {
  declare_which(app, options);
  options.flags.declare(
      app, {"batch_sizes",  "threads",     "device",       "dimensions", "batch_axis", "options",    "env",
            "backend_path", "allow_code",  "warmup",       "iterations", "duration",   "processes",  "seed",
            "data_seed",    "cpus",        "outliers",     "data",       "labels",     "data_limit", "distribution",
            "load_timeout", "run_timeout", "memory_limit", "sandbox",    "output_dir", "store",      "format"});
  app.get_option("--format")
      ->description("table (default), json, csv, markdown, latex, openmetrics, bencher, google-benchmark.");
  app.get_option("--allow-code")->description("Allow models that contain code (.pt, .pt2, pickles).");
  declare_other_names(app, options);
  options.output.declare(app);
  CLI::Validator positive(CLI::PositiveNumber);
  positive.description("");  // else the help says so behind the value's name
  app.add_option("--making-timeout", options.making_timeout_s,
                 "Time limit for making one file, in seconds. Default: 600.")
      ->type_name("SECONDS")
      ->check(positive)
      ->group("Running");
  app.add_option(
         "--save-path", options.save_path,
         "Save every variant that is made as a file in this folder; of PyTorch also what is quantised or pruned "
         "when it is loaded, and the student. With one file, this may be its name.")
      ->type_name("FOLDER|FILE")
      ->group("Results");
  app.add_flag("--dry-run", options.dry_run, "Show what would be made and measured. Makes and measures nothing.")
      ->group("Running");
  app.add_option("--resume", options.resume, "Finish an interrupted run of the same variants.")
      ->type_name("RUN")
      ->group("Running");
  options.verbosity.declare(app, "Running");
  options.cluster.declare(app);
}

Result<PlanDraft> gather(const Surroundings& world, const VariantsOptions& options) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  INFERMETER_TRY_DONE(use_fixed_processes(draft));
  // --batch-size: one item, and so many at once.
  auto& sizes = draft.batch_sizes;
  if (options.flags.other_names().has("--batch-size") && std::ranges::find(sizes, 1) == sizes.end()) {
    sizes.insert(sizes.begin(), 1);
  }
  return draft;
}

Result<VariantsRequest> request_of(const VariantsOptions& options) {
  VariantsRequest request = options.request;
  if (options.all_phases) request.phases.assign(all_phases().begin(), all_phases().end());
  for (const std::string& text : options.shares) {
    const auto share = pruned_share_from_string(text);
    if (!share) return usage_error("--prune: " + share.error().message);
    request.pruned_shares.push_back(*share);
  }
  return request;
}

// MODEL by its other names.
Result<Done> settle_model(VariantsOptions& options, PlanDraft& draft) {
  std::string& model = options.request.model;
  if (!options.teacher.empty() && options.request.student.empty()) {
    return usage_error(
        "--teacher: no student is trained here; give the one that was trained elsewhere, --student MODEL");
  }
  const bool is_twice = !options.config.empty() && !options.teacher.empty();
  const std::string config = options.config.empty() ? options.teacher : options.config;
  if (is_twice || (!model.empty() && !(config.empty() && options.checkpoint.empty()))) {
    return usage_error("--config, --ckpt, --model and --teacher are MODEL: give one of them");
  }
  if (config.ends_with(".yaml") || config.ends_with(".yml")) {
    return usage_error(fmt::format(
        "{} is the configuration of a training program, which alone can build its model: give a function that returns "
        "the model, --config FILE.py:FACTORY",
        printable(config, 300)));
  }
  if (!options.checkpoint.empty() && !config.empty()) {
    const std::vector<std::string> factory = {"factory=" + config};
    INFERMETER_TRY_DONE(apply_setting(*find_setting("options"), draft, factory));
  }
  if (model.empty()) model = options.checkpoint.empty() ? config : options.checkpoint;
  // Those tools knew PyTorch only.
  if (!config.empty() && is_factory(config) && options.request.backends.empty() && options.checkpoint.empty() &&
      config.find('@') == std::string::npos) {
    options.request.backends = {"pytorch"};
  }
  return Done{};
}

std::string made_text(const VariantMaking& making) {
  const bool is_folder = making.ending == kFolderConfig;
  return fmt::format("{}, a {}", making.words, is_folder ? "folder" : fmt::format(".{} file", making.ending));
}

// The plan as if all files had been made: they take the inputs that the model takes.
Result<VariantsPlan> plan_of_unmade(const PreparedVariants& prepared) {
  VariantList list = prepared.list;
  for (Variant& variant : list.variants) {
    if (variant.making) variant.model = prepared.model.name;
  }
  return plan_variants(list, prepared.draft);
}

// What would be made, and the plan as if it had been.
int describe_variants(Surroundings& world, const PreparedVariants& prepared, const Plan& plan) {
  std::string text;
  for (const Variant& variant : prepared.list.variants) {
    const std::string what = !variant.refusal.empty() ? "not measured: " + variant.refusal
                             : variant.making         ? "to be made: " + made_text(*variant.making)
                                                      : "as it is";
    text += fmt::format("{}: {}\n", printable(variant.label), printable(what, 600));
  }
  for (const std::string& note : prepared.list.notes) text += fmt::format("left out: {}\n", printable(note, 600));
  world.out << text << '\n' << describe_plan(plan, earlier_runs(world, plan));
  return 0;
}

// Several variants may run the same file.
std::size_t files_to_make(const VariantList& list, bool saves) {
  std::set<std::string> files;
  for (const Variant& variant : list.variants) {
    if (!variant.refusal.empty()) continue;
    if (variant.making) files.insert(variant.making->words);
    if (variant.saving && saves) files.insert(variant.kind);
  }
  return files.size();
}

// What the run says of them, and the file of it.
Result<int> report_variants(Surroundings& world, const VariantsOptions& options, const VariantSet& set, Format format,
                            const MeasuredPlan& measured) {
  const Verbosity verbosity = options.verbosity.level();
  const RunRecord& record = measured.record;
  const Verdict verdict = judge(record);
  Problems unwritten = measured.unwritten;
  unwritten.take(
      options.output.write_text(world, render_variants(record, verdict, set, format, options.output.look(world))));
  if (options.output.html.wanted()) {
    const ReportPart part = variants_part(record, verdict, set, options.output.page_look());
    unwritten.take(options.output.html.write(world, part, options.output.force, verbosity == Verbosity::quiet));
  }
  say_where(world, measured, verbosity);
  return unless_unwritten(unwritten, exit_code_of_run(world, record, exit_code_of_variants(verdict, set)));
}

Result<int> measure_variants(Surroundings& world, const VariantsOptions& options, PreparedVariants prepared,
                             const Launcher& launcher, Format format, const std::optional<ClusterRequest>& cluster) {
  const Verbosity verbosity = options.verbosity.level();
  const bool saves = !options.save_path.empty();
  const std::size_t files = files_to_make(prepared.list, saves);
  std::size_t file = 0;
  VariantMakingContext context{.launcher = launcher,
                               .cache = default_cache(),
                               .timeout_s = options.making_timeout_s,
                               .saves = saves,
                               .interrupt = world.interrupt,
                               .on_note = [&](const std::string& note) {
                                 if (verbosity == Verbosity::quiet) return;
                                 world.err << fmt::format("[{}/{}] {}\n", ++file, files, printable(note)) << std::flush;
                               }};
  INFERMETER_TRY(auto made, make_variants(prepared, context));
  INFERMETER_TRY(const VariantsPlan planned, plan_variants(prepared.list, prepared.draft));
  const auto resume = options.resume.empty() ? std::nullopt : std::optional(options.resume);
  std::optional<ClusterJob> job;
  if (resume) {
    INFERMETER_TRY(job, job_of_run(world, *resume, planned.plan));
  }
  const bool away = job || cluster;
  Problems unsaved;
  const auto report = [&](MeasuredPlan measured) {
    measured.unwritten.add_all(unsaved);
    return report_variants(world, options, planned.set, format, measured);
  };
  if (away) {
    if (saves) INFERMETER_TRY_DONE(options.made_files().save(world, prepared));
    MeasureRequest request{.plan = planned.plan,
                           .format = format,
                           .verbosity = verbosity,
                           .models = std::move(made),
                           .keeps_refusals = true,
                           .report = report};
    if (job) return resume_on_cluster(world, request, std::move(*job), cluster, options.cluster, options.output);
    if (resume) return not_of_a_cluster(*resume);
    return run_on_cluster(world, std::move(request), *cluster, options.cluster, options.output);
  }
  INFERMETER_TRY(
      auto measured,
      measure_plan(world, planned.plan, launcher, verbosity,
                   {.resume = resume, .models = std::move(made), .is_checked = false, .keeps_refusals = true}));
  if (saves) unsaved.take(options.made_files().save(world, prepared));
  return report(std::move(measured));
}

Result<int> variants_action(Surroundings& world, const VariantsOptions& given) {
  INFERMETER_TRY(PlanDraft draft, gather(world, given));
  INFERMETER_TRY(const auto cluster, given.cluster.request());
  if (given.cluster.waits() && !cluster && given.resume.empty())
    return usage_error("--wait waits for a run on a cluster: give --on slurm");
  if (cluster) INFERMETER_TRY_DONE(use_fixed_blocks(draft));
  VariantsOptions options = given;
  INFERMETER_TRY_DONE(settle_model(options, draft));
  INFERMETER_TRY(const Format format, options.output.settle(draft, options.flags.other_names()));
  if (format == Format::html) return usage_error("a page of variants is written by --html FILE");
  INFERMETER_TRY(VariantsRequest request, request_of(options));
  INFERMETER_TRY(const Launcher launcher, find_launcher(draft.plan.backend_path));
  INFERMETER_TRY(PreparedVariants prepared,
                 prepare_variants(std::move(request), std::move(draft), launcher, default_cache(), world.interrupt));
  INFERMETER_TRY(const VariantsPlan planned, plan_of_unmade(prepared));
  RunCheck check = check_before_run(world, planned.plan, launcher);
  options.output.check(check.problems, planned.plan.output_dir);
  if (!options.save_path.empty()) check.problems.take(options.made_files().check(prepared));
  INFERMETER_TRY_DONE(check.problems.result());
  if (options.dry_run) return describe_variants(world, prepared, planned.plan);
  if (cluster && cluster->cluster == Cluster::slurm && options.cluster.job_file().empty())
    INFERMETER_TRY_DONE(check_slurm());
  return measure_variants(world, options, std::move(prepared), launcher, format, cluster);
}

}  // namespace

Action declare_variants(CLI::App& app) {
  auto options = std::make_shared<VariantsOptions>();
  set_help(app, variants_help());
  declare_variants_flags(app, *options);
  return [options](Surroundings& world) { return variants_action(world, *options); };
}

}  // namespace infermeter
