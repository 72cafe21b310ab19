// infermeter run: gathers the plan, measures it, prints the report.
#include <fmt/format.h>

#include <memory>

#include "cli/cluster_run.hpp"
#include "cli/flags/choose_backends.hpp"
#include "cli/flags/cluster_flags.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/measure_and_report.hpp"
#include "cli/output/help.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/fleet/job_folder.hpp"
#include "infermeter/run/run.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr const char* kLatestUnfinished = "latest";

struct RunOptions {
  PlanFlags plan;
  ReportOutput output;
  ClusterFlags cluster;
  std::string resume;
  bool wants_resume = false;
  bool dry_run = false;
  VerbosityFlags verbosity;
};

HelpText run_help() {
  return {.usage = "infermeter run [SUBJECT…] [flags]",
          .about =
              "Measures subjects, each in fresh worker processes, and prints how they compare with the first one: "
              "latency, throughput, memory, and whether the outputs agree. Trials of different subjects are "
              "interleaved in random order. Everything is stored under --output-dir as each trial ends.",
          .examples = {{"infermeter run model.onnx", "A model on every available back end that can load it."},
                       {"infermeter run resnet50@onnxruntime resnet50@openvino", "Two runtimes, one model of the zoo."},
                       {"infermeter run fast=model.onnx@openvino,threads=1 slow=model.onnx@openvino,threads=2",
                        "Two settings of one back end, with labels."},
                       {"infermeter run --model resnet50 vit_b_16 --backend onnxruntime openvino --batch-sizes 1 4",
                        "A matrix: every model on every back end at both batch sizes."},
                       {"infermeter run mlp@onnxruntime --duration 10s --format json --output report.json",
                        "Ten seconds of timed inferences per process; the report into a file."},
                       {"infermeter run mlp@onnxruntime mlp@openvino --html report.html",
                        "Also write the report as an HTML page."},
                       {"infermeter run --plan plan.toml --dry-run", "Show what a plan file would measure."},
                       {"infermeter run --resume", "Finish the latest interrupted run."},
                       {"infermeter run --plan plan.toml --processes 40 --on slurm --nodes 8 --wait",
                        "Forty blocks on eight nodes of a cluster."}},
          .notes = {"Units: TIME is 30s, 5m, 250ms, or plain seconds; SIZE is 2GB, 512MiB, or plain bytes.",
                    "Flags with several values take all values that follow: put subjects first, or after --.",
                    "Most keys of a plan can also be set by an environment variable (batch_sizes: "
                    "INFERMETER_BATCH_SIZES) or in infermeter.toml in the current folder; docs/plan.md lists them. "
                    "Flags that are no keys (--html, --output, --quiet, --dry-run, …) can be set only on the command "
                    "line. Flags override --plan, which overrides environment variables, which override "
                    "infermeter.toml.",
                    "Files: OUTPUT_DIR/infermeter.db (every run, with raw samples) and "
                    "OUTPUT_DIR/raw/benchmark_results_YYYYMMDD_HHMMSS.csv (this run; UTC), or in OUTPUT_DIR itself if "
                    "its name is raw.",
                    "both, as a value of --model or --framework, stands for the pair of models or frameworks of an "
                    "earlier runner.",
                    "Ctrl-C once finishes the current iteration and reports the results so far; twice stops at once.",
                    kExitCodes}};
}

void declare_run_flags(CLI::App& app, RunOptions& options) {
  options.plan.declare(app);
  app.get_option("--allow-code")
      ->description(
          "Allow models that contain code (.pt, .pt2, pickles), and code named by a plan file or by the run of "
          "--resume: Python, libraries, folders of back ends.");
  options.output.declare(app);
  app.add_flag("--dry-run", options.dry_run,
               "Print the plan: order of trials, limits, estimated time. Measures nothing.")
      ->group("Running");
  app.add_option("--resume", options.resume,
                 "Finish an interrupted run: its id or a prefix of it. Without a value: the latest unfinished run.")
      ->type_name("[RUN]")
      ->expected(0, 1)
      ->group("Running");
  options.verbosity.declare(app, "Running");
  options.cluster.declare(app);
  options.cluster.declare_shard(app);
}

// The id of the run that --resume means.
Result<std::string> unfinished_run(const Surroundings& world, const std::string& asked, const Plan& place) {
  if (!asked.empty() && asked != kLatestUnfinished) return asked;
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, world.interrupt));
  return store.latest_unfinished();
}

Result<Plan> plan_to_resume(const Surroundings& world, const std::string& id, const Plan& asked) {
  INFERMETER_TRY(auto store, Store::open(asked, Store::Mode::read, world.interrupt));
  INFERMETER_TRY(RunRecord record, store.load_run(id));
  INFERMETER_TRY_DONE(check_own_plan(record, asked));
  record.plan.output_dir = asked.output_dir;
  record.plan.store = asked.store;
  return std::move(record.plan);
}

Result<int> run_action(Surroundings& world, const RunOptions& options) {
  INFERMETER_TRY(PlanDraft draft, options.plan.gather(world));
  INFERMETER_TRY(const auto cluster, options.cluster.request());
  INFERMETER_TRY(const auto shard, options.cluster.shard(world));
  if (options.cluster.waits() && !cluster && !options.wants_resume)
    return usage_error("--wait waits for a run on a cluster: give --on slurm");
  if (shard && (!options.wants_resume || options.plan.names_subjects()))
    return usage_error("--shard is for a task of a cluster, with --resume RUN and no subjects");
  if (shard) draft.plan.store.clear();  // a task writes its own, whatever the job's environment says
  INFERMETER_TRY_DONE(choose_backends(world, draft, options.verbosity.level()));
  if (cluster) INFERMETER_TRY_DONE(use_fixed_blocks(draft));
  ReportOutput output = options.output;
  INFERMETER_TRY(const Format format, output.settle(draft, options.plan.other_names()));

  // The plan: the flags', or the interrupted run's own.
  std::optional<std::string> resume;
  Plan plan;
  const bool own_plan = options.wants_resume && !options.plan.names_subjects();
  if (const std::string flag = options.plan.changing_flag(); own_plan && !flag.empty()) {
    return usage_error(
        fmt::format("--resume continues with the run's own plan: leave {} out, or give the whole plan", flag));
  }
  if (options.wants_resume) {
    INFERMETER_TRY(resume, unfinished_run(world, options.resume, draft.plan));
  }
  if (resume && !shard) {
    INFERMETER_TRY(auto job, job_of_run(world, *resume, draft.plan));
    if (job) {
      if (!own_plan) return usage_error("a run on a cluster is resumed by its own plan: leave the subjects out");
      if (options.dry_run)
        return usage_error(fmt::format("--dry-run: run {} is measured on a cluster already; leave it out", *resume));
      plan.output_dir = draft.plan.output_dir;
      plan.store = draft.plan.store;
      plan.allow_code = draft.plan.allow_code;
      return resume_on_cluster(world,
                               {.plan = std::move(plan), .format = format, .verbosity = options.verbosity.level()},
                               std::move(*job), cluster, options.cluster, output);
    }
    if (cluster || options.cluster.waits()) return not_of_a_cluster(*resume);
  }
  if (own_plan) {
    INFERMETER_TRY(plan, plan_to_resume(world, *resume, draft.plan));
  } else {
    INFERMETER_TRY(plan, make_plan(draft));
  }

  if (shard) return measure_shard(world, std::move(plan), *resume, *shard, options.verbosity.level());
  if (cluster) {
    return run_on_cluster(
        world,
        {.plan = std::move(plan), .format = format, .dry_run = options.dry_run, .verbosity = options.verbosity.level()},
        *cluster, options.cluster, output);
  }
  return measure_and_report(world,
                            {.plan = std::move(plan),
                             .format = format,
                             .dry_run = options.dry_run,
                             .verbosity = options.verbosity.level(),
                             .resume = std::move(resume)},
                            output);
}

}  // namespace

Action declare_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  set_help(app, run_help());
  declare_run_flags(app, *options);
  return [options, &app](Surroundings& world) {
    options->wants_resume = app.count("--resume") > 0;
    return run_action(world, *options);
  };
}

}  // namespace infermeter
