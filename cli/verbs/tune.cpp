// infermeter tune: which settings of a model are best here? A race of fresh processes with a known error rate.
#include <memory>

#include "cli/cluster_run.hpp"
#include "cli/flags/cluster_flags.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/measure_and_report.hpp"
#include "cli/measure_plan.hpp"
#include "cli/output/help.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/run/run.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/tuning/prepare_tuning.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {
namespace {

constexpr const char* kTried = "What is tried";
constexpr const char* kBest = "What is best";

struct TuneOptions {
  TuningRequest request;
  std::string winner_file;  // --write-plan
  SomeFlags flags;
  ReportOutput output;
  ClusterFlags cluster;
  bool dry_run = false;
  VerbosityFlags verbosity;
};

HelpText tune_help() {
  return {
      .usage = "infermeter tune MODEL [flags]",
      .about =
          "Finds the best settings of a model on this machine: back end, threads, batch size, options. The settings "
          "race in blocks of one fresh process each, in random order; those that are shown to be worse than the best "
          "leave the race, with one error rate for the best and all looks. Then fresh pairs of processes, which had no "
          "part in choosing the best, show how much better it is than the first setting and than the second best. "
          "Outputs are compared first: a setting with other outputs is left out.",
      .examples =
          {{"infermeter tune model.onnx",
            "Each back end that can load it, with its threads and options changed one at a time."},
           {"infermeter tune resnet50 --over backend=onnxruntime,openvino threads=1,2 batch_size=1,4 --objective "
            "throughput",
            "Every combination of these values; the first ones are those in use today."},
           {"infermeter tune resnet50 --over backend=openvino num_streams=1,2 batch_size=1,4,8 --objective throughput "
            "--subject-to 'latency_p99 <= 50ms' 'peak_memory < 1GB'",
            "The most throughput within limits on latency and memory."},
           {"infermeter tune mlp --over model=mlp,small.onnx backend=onnxruntime --subject-to 'accuracy_drop <= 0.01' "
            "--data test.npy --labels labels.txt",
            "Model files with different outputs, judged by their accuracy."},
           {"infermeter tune resnet50 --over backend=onnxruntime,openvino dtype=float32,int8 --subject-to "
            "'cosine >= 0.99'",
            "int8 beside float32, as long as its outputs are nearly the same."},
           {"infermeter tune resnet50 --budget 5m --write-plan best.toml",
            "The best setting as a plan file: `infermeter run --plan best.toml`."},
           {"infermeter tune resnet50 --on slurm --constraint bigmem --wait",
            "The whole race on one node of a cluster, which it has for itself."}},
      .notes = {
          "Gains are reported against the first setting, the first value of each key: put what you use today first.",
          "Settings that cannot be run here (a precision that the device lacks) are left out before anything runs, and "
          "the report says why. What fails in the race leaves it.",
          "Of more than 60 settings, 60 that differ much are drawn (--seed), and single processes reduce them to about "
          "a dozen, which race. The report then says that it was a search.",
          "Constraints are written as in gate files (docs/gate.md): latency_p99 <= 50ms, throughput >= 100, "
          "peak_memory < 1GB, model_size < 30MB, accuracy_drop <= 0.01.",
          "Latency is that of one inference, whatever its batch; throughput counts items.",
          "An interrupted race is finished with `infermeter run --resume`; `infermeter report` prints its report "
          "again.",
          "Exit code 0: a setting is best, or leads when the budget is spent; 1: none is left.", kExitCodes}};
}

void declare_tune_flags(CLI::App& app, TuneOptions& options) {
  app.add_option("MODEL", options.request.model,
                 "A name from the zoo (`infermeter models`), a file, or Python code (FILE.py:FACTORY); "
                 "MODEL@BACKEND,key=value… says what is the same for all settings.")
      ->type_name("")
      ->required()
      ->group(kTried);
  app.add_option(
         "--over", options.request.over,
         "The values to try: backend, threads, batch_size, dtype, device, model, dim.NAME, load.KEY, or an option of "
         "a back end. threads=1..4 are the numbers from 1 to 4. dtype=int8: a form of the model that each back end's "
         "own tool makes, calibrated on --data. Every combination is tried. Default: as in the first example.")
      ->type_name("KEY=V1,V2…")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->group(kTried);
  app.add_option("--objective", options.request.objective,
                 "latency_p50 (default), latency_p90, latency_p99, throughput, peak_memory, load_time, model_size; "
                 "with --load also response_p99, achieved_rate, max_rate and the like (docs/load.md).")
      ->type_name("NAME")
      ->group(kBest);
  app.add_option("--subject-to", options.request.constraints,
                 "Conditions that the best setting must satisfy: 'latency_p99 <= 50ms'.")
      ->type_name("CONDITION…")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->group(kBest);
  app.add_option("--indifference", options.request.indifference,
                 "Settings within this share of the best are as good. Default: 2%.")
      ->type_name("SHARE")
      ->group(kBest);
  app.add_option("--budget", options.request.budget, "Time of all processes: pilots, race, confirmation. Default: 15m.")
      ->type_name("TIME")
      ->group(kBest);
  options.flags.declare(
      app, {"alpha",        "device",       "dimensions", "batch_axis", "options",    "load",         "env",
            "backend_path", "allow_code",   "warmup",     "iterations", "duration",   "seed",         "data_seed",
            "cpus",         "outliers",     "data",       "labels",     "data_limit", "distribution", "load_timeout",
            "run_timeout",  "memory_limit", "sandbox",    "output_dir", "store",      "format"});
  app.get_option("--allow-code")->description("Allow models that contain code (.pt, .pt2, pickles).");
  options.output.declare(app);
  app.add_option("--write-plan", options.winner_file,
                 "Write the best setting to a plan file, for `infermeter run --plan`.")
      ->type_name("FILE")
      ->group("Results");
  app.add_flag("--dry-run", options.dry_run, "Show what would race, and what is left out. Measures nothing.")
      ->group("Running");
  options.verbosity.declare(app, "Running");
  options.cluster.declare(app);
}

Result<int> tune_action(Surroundings& world, const TuneOptions& options) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  INFERMETER_TRY(const auto cluster, options.cluster.request());
  if (options.cluster.waits() && !cluster) return usage_error("--wait waits for a race on a cluster: give --on slurm");
  ReportOutput output = options.output;
  INFERMETER_TRY(const Format format, output.settle(draft, options.flags.other_names()));
  INFERMETER_TRY(const Launcher launcher, find_launcher(draft.plan.backend_path));
  MeasureRequest request{.plan = draft.plan,
                         .format = format,
                         .dry_run = options.dry_run,
                         .verbosity = options.verbosity.level(),
                         .winner_file = options.winner_file,
                         .keeps_refusals = true};
  Problems problems;
  check_results_folder(draft.plan.output_dir, problems);
  check_files(request, output, problems);
  const TuningContext context{.launcher = launcher,
                              .cache = default_cache(),
                              .makes_files = !options.dry_run,
                              .interrupt = world.interrupt,
                              .on_note = [&](const std::string& note) {
                                if (request.verbosity == Verbosity::quiet) return;
                                world.err << printable(note, 600) << '\n' << std::flush;
                              }};
  INFERMETER_TRY(PreparedTuning prepared, prepare_tuning(options.request, std::move(draft), context, problems));
  request.plan = std::move(prepared.plan);
  request.models = std::move(prepared.models);
  if (cluster) return run_on_cluster(world, std::move(request), *cluster, options.cluster, output);
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
