// infermeter variants: makes and measures a model's variants, and says which are worth having.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>

#include "cli/check_subjects.hpp"
#include "cli/dry_run.hpp"
#include "cli/help.hpp"
#include "cli/measure_plan.hpp"
#include "cli/plan_flags.hpp"
#include "cli/report_output.hpp"
#include "cli/verb.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/setting.hpp"
#include "infermeter/variants.hpp"

namespace infermeter {
namespace {

constexpr const char* kWhich = "Which variants";
constexpr const char* kOtherNames = "Other names, of an earlier tool";

struct VariantsOptions {
  VariantsRequest request;
  SomeFlags flags;
  ReportOutput output;
  // Values of flags' other names, by the key of their setting.
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<std::string>>>> other_names;
  std::vector<std::string> shares;
  bool all_phases = false, dry_run = false;
  std::string resume;
  double making_timeout_s = 600;
  VerbosityFlags verbosity;
};

HelpText variants_help() {
  return {
      .usage = "infermeter variants MODEL [flags]",
      .about =
          "Makes variants of a model (float16, int8, pruned, …), measures each beside the model as it was given, "
          "compares outputs and accuracy, and says which are on the Pareto front of accuracy, speed, memory and size "
          "and what can be recommended. Files are made by the runtimes' own tools, each in a process of its own, and "
          "kept in the cache; a variant that cannot be made or run has its row with the reason, and the others go on.",
      .examples =
          {{"infermeter variants resnet50", "float32, float16, bfloat16 and int8 on each back end that can."},
           {"infermeter variants resnet50 --html variants.html", "The same, with a page that draws the trade-offs."},
           {"infermeter variants model.onnx --precisions int8 --calibration images/ --data test/ --labels labels.txt",
            "Quantised on some pictures, judged on others by what is right."},
           {"infermeter variants resnet50 --precisions float32 --graph-opt none,basic,extended,all --threads 1,2 "
            "--batch-sizes 1,8 --backends onnxruntime",
            "Settings instead of files."},
           {"infermeter variants --models original:model.onnx,quantized:small.onnx",
            "Files that are there already; the first one is the baseline."},
           {"infermeter variants nets.py:make@pytorch --all-phases",
            "A PyTorch model: eager, channels_last, autocast, compile, dynamic_int8, and all of them stacked."}},
      .notes = {"The first variant is the baseline: float32, as the model was given, on the first back end.",
                "Making needs what `scripts/setup --with variants` installs (ONNX, NNCF); what is missing is said, and "
                "the other variants go on.",
                "int8 is only as good as the data it was calibrated on: give --calibration, or --data. Synthetic data "
                "show speed, not accuracy.",
                "docs/variants.md explains each variant and each line of the report; `infermeter report RUN` shows the "
                "same run as any other.",
                "Exit code 0: the baseline was measured; variants that failed are in the report.", kExitCodes}};
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
  add_list(app, "--precisions", request.precisions, "TYPE,…", "float32, float16, bfloat16, int8. Default: all.");
  add_list(app, "--quantise,--quantize", request.quantisations, "HOW,…",
           "How int8 is made: static, dynamic (ONNX Runtime), nncf (OpenVINO). Default: static,nncf.");
  add_list(app, "--prune", options.shares, "SHARE,…",
           "Also with this share of the smallest weights set to 0: 0.5, 50%.");
  add_list(app, "--graph-opt", request.graph_levels, "LEVEL,…",
           "none, basic, extended, all; of back ends that have such levels.");
  add_list(app, "--phases", request.phases, "PHASE,…",
           "Of PyTorch: eager, channels_last, autocast, compile, dynamic_int8, stacked.");
  app.add_flag("--all-phases", options.all_phases, "All phases of PyTorch, and all of them stacked.")->group(kWhich);
  add_list(app, "--backends,--backend,--framework", request.backends, "NAME,…",
           "Default: onnxruntime and openvino, where they read the model.");
  add_list(app, "--models", request.models, "NAME:FILE,…",
           "Instead of MODEL: files that are there already, the baseline first.");
  app.add_option("--calibration", request.calibration,
                 "What int8 is calibrated on; as --data. Default: what --data says.")
      ->type_name("SOURCE")
      ->group(kWhich);
  app.add_option("--calibration-items", request.calibration_items, "At most so many of them. Default: 32.")
      ->type_name("N")
      ->group(kWhich);
}

void declare_other_names(CLI::App& app, VariantsOptions& options) {
  const auto add = [&](const char* flag, const char* key, const char* help) {
    auto values = std::make_shared<std::vector<std::string>>();
    app.add_option(flag, *values, help)->delimiter(',')->type_name("")->group(kOtherNames);
    options.other_names.emplace_back(key, values);
  };
  add("--dataset", "data", "--data");
  add("--batch-size", "batch_sizes", "--batch-sizes");
  add("--num-runs", "iterations", "--iterations");
  add("--save-dir", "output_dir", "--output-dir");
  add("--report-format", "format", "--format");
}

void declare_variants_flags(CLI::App& app, VariantsOptions& options) {
  declare_which(app, options);
  options.flags.declare(app, {"batch_sizes",  "threads",     "device",       "dimensions", "options",    "backend_path",
                              "allow_code",   "warmup",      "iterations",   "duration",   "processes",  "seed",
                              "cpus",         "outliers",    "data",         "labels",     "data_limit", "distribution",
                              "load_timeout", "run_timeout", "memory_limit", "sandbox",    "output_dir", "format"});
  for (const char* const list : {"--batch-sizes", "--threads"}) app.get_option(list)->delimiter(',');
  declare_other_names(app, options);
  options.output.declare(app);
  CLI::Validator positive(CLI::PositiveNumber);
  positive.description("");  // else the help says so behind the value's name
  app.add_option("--making-timeout", options.making_timeout_s, "Seconds that making one file may take. Default: 600.")
      ->type_name("SECONDS")
      ->check(positive)
      ->group("Running");
  app.add_flag("--dry-run", options.dry_run, "Print what would be made and measured. Makes and measures nothing.")
      ->group("Running");
  app.add_option("--resume", options.resume, "Finish an interrupted run of the same variants.")
      ->type_name("RUN")
      ->group("Running");
  options.verbosity.declare(app, "Running");
}

Result<PlanDraft> gather(const Surroundings& world, const VariantsOptions& options) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  for (const auto& [key, values] : options.other_names) {
    if (values->empty()) continue;
    const auto applied = apply_setting(*find_setting(key), draft, *values);
    if (!applied) return usage_error(fmt::format("--{}: {}", find_setting(key)->flag, applied.error().message));
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

std::string made_text(const VariantMaking& making) {
  return fmt::format("{}, a .{} file", making.words, making.ending);
}

// What would be made, and the plan as if it had been.
Result<int> describe_variants(Surroundings& world, PreparedVariants prepared) {
  std::string text;
  for (Variant& variant : prepared.list.variants) {
    const std::string what = !variant.refusal.empty() ? "not measured: " + variant.refusal
                             : variant.making         ? "to be made: " + made_text(*variant.making)
                                                      : "as it is";
    text += fmt::format("{}: {}\n", printable(variant.label), printable(what, 600));
    if (variant.making) variant.model = prepared.model.name;
  }
  for (const std::string& note : prepared.list.notes) text += fmt::format("left out: {}\n", printable(note, 600));
  INFERMETER_TRY(const VariantsPlan planned, plan_variants(prepared.list, prepared.draft));
  world.out << text << '\n' << describe_plan(planned.plan, earlier_runs(planned.plan.output_dir));
  return 0;
}

// Several variants may run the same file.
std::size_t files_to_make(const VariantList& list) {
  std::set<std::string> files;
  for (const Variant& variant : list.variants) {
    if (variant.making && variant.refusal.empty()) files.insert(variant.making->words);
  }
  return files.size();
}

bool is_interrupted(const Surroundings& world) { return world.interrupt != nullptr && world.interrupt->load() != 0; }

Result<int> measure_variants(Surroundings& world, const VariantsOptions& options, PreparedVariants prepared,
                             const Launcher& launcher, Format format) {
  const Verbosity verbosity = options.verbosity.level();
  const std::size_t files = files_to_make(prepared.list);
  std::size_t file = 0;
  VariantMakingContext context{.launcher = launcher,
                               .cache = default_cache(),
                               .timeout_s = options.making_timeout_s,
                               .interrupt = world.interrupt,
                               .on_note = [&](const std::string& note) {
                                 if (verbosity == Verbosity::quiet) return;
                                 world.err << fmt::format("[{}/{}] {}\n", ++file, files, printable(note)) << std::flush;
                               }};
  auto made = make_variants(prepared, context);
  if (!made.ok() && is_interrupted(world)) {
    world.err << "infermeter: " << made.error().message << '\n';
    return 128 + (world.signal == nullptr ? 2 : world.signal->load());
  }
  if (!made.ok()) return made.error();
  INFERMETER_TRY(const VariantsPlan planned, plan_variants(prepared.list, prepared.draft));
  INFERMETER_TRY_DONE(check_subjects(planned.plan, launcher));
  const auto resume = options.resume.empty() ? std::nullopt : std::optional(options.resume);
  INFERMETER_TRY(const RunRecord record,
                 measure_plan(world, planned.plan, launcher, verbosity, resume, std::move(made).value()));
  const Verdict verdict = judge(record);
  INFERMETER_TRY(const auto csv, write_csv(record, verdict, resume.has_value()));
  INFERMETER_TRY_DONE(options.output.write_text(
      world, render_variants(record, verdict, planned.set, format, options.output.look(world))));
  if (options.output.html.wanted()) {
    const ReportPart part = variants_part(record, verdict, planned.set, options.output.page_look());
    INFERMETER_TRY_DONE(options.output.html.write(world, part, options.output.force, verbosity == Verbosity::quiet));
  }
  say_where(world, record, csv, verbosity);
  return exit_code_of_run(world, record, exit_code_of_variants(verdict, planned.set));
}

Result<int> variants_action(Surroundings& world, const VariantsOptions& options) {
  INFERMETER_TRY(PlanDraft draft, gather(world, options));
  INFERMETER_TRY(const Format format, format_from_string(draft.format.empty() ? "table" : draft.format));
  if (format == Format::html) return usage_error("a page of variants is written by --html FILE");
  INFERMETER_TRY_DONE(options.output.check(draft.plan.output_dir));
  INFERMETER_TRY(VariantsRequest request, request_of(options));
  INFERMETER_TRY(const Launcher launcher, find_launcher(draft.plan.backend_path));
  INFERMETER_TRY(PreparedVariants prepared,
                 prepare_variants(std::move(request), std::move(draft), launcher, default_cache()));
  if (options.dry_run) return describe_variants(world, std::move(prepared));
  return measure_variants(world, options, std::move(prepared), launcher, format);
}

}  // namespace

Action declare_variants(CLI::App& app) {
  auto options = std::make_shared<VariantsOptions>();
  set_help(app, variants_help());
  declare_variants_flags(app, *options);
  return [options](Surroundings& world) { return variants_action(world, *options); };
}

}  // namespace infermeter
