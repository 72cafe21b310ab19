// infermeter load: how long requests wait when many of them come at once.
#include <fmt/format.h>

#include <memory>

#include "cli/cluster_run.hpp"
#include "cli/flags/choose_backends.hpp"
#include "cli/flags/cluster_flags.hpp"
#include "cli/flags/load_flags.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/measure_and_report.hpp"
#include "cli/output/help.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"

namespace infermeter {
namespace {

struct LoadOptions {
  PlanFlags plan;
  LoadFlags load;
  ReportOutput output;
  ClusterFlags cluster;
  bool dry_run = false;
  VerbosityFlags verbosity;
};

HelpText load_help() {
  return {
      .usage = "infermeter load SUBJECT… [flags]",
      .about =
          "Measures subjects while many requests come at once. The response time of a request counts from when it "
          "should have started, whatever delayed it: a stalled subject, a full queue, or infermeter itself. The report "
          "says whether the load was valid, and why not (docs/load.md).",
      .examples =
          {{"infermeter load resnet50@onnxruntime --rate 10",
            "Ten requests per second, at random (Poisson), for 10 s."},
           {"infermeter load resnet50@openvino,performance_hint=throughput --scenario offline",
            "The highest throughput: as many requests in flight as the runtime accepts."},
           {"infermeter load mlp@onnxruntime --concurrency 1 2 4 8",
            "Throughput against response time, for 1 to 8 clients."},
           {"infermeter load mlp@onnxruntime mlp@openvino --scenario server --rate 200 --duration 1m",
            "Two runtimes under the same arrivals."},
           {"infermeter load mlp@onnxruntime mlp@openvino --find-rate 'response_p99 <= 5ms'",
            "The highest rate that keeps an objective, with its interval."},
           {"infermeter load chat@openai,url=http://127.0.0.1:8000/v1 --rate 2 --goodput 'ttft<=200ms' 'tpot<=50ms'",
            "A language model on a server: first tokens, pace, and requests that keep both bounds."},
           {"infermeter load mlp@onnxruntime --arrivals step:50:5s/200:5s",
            "50 requests per second for 5 s, then 200."},
           {"infermeter load mlp@onnxruntime --arrivals trace.csv", "Arrivals as they were recorded."}},
      .notes = {"Each of the three processes per subject (--processes) runs the whole load. Intervals are computed "
                "over processes.",
                "`infermeter compare A B --rate 40 --metric response_p99` decides which of two is better under load.",
                "TIME is 30s, 5m, 250ms, or plain seconds. Lists take 1 2 4 or 1,2,4.", kExitCodes}};
}

Result<int> load_action(Surroundings& world, const LoadOptions& options) {
  INFERMETER_TRY(PlanDraft draft, options.plan.gather(world));
  INFERMETER_TRY_DONE(options.load.apply(draft, options.plan));
  INFERMETER_TRY(const auto cluster, options.cluster.request());
  if (options.cluster.waits() && !cluster) return usage_error("--wait waits for a run on a cluster: give --on slurm");
  INFERMETER_TRY_DONE(choose_backends(world, draft, options.verbosity.level()));
  INFERMETER_TRY_DONE(use_fixed_processes(draft));
  ReportOutput output = options.output;
  INFERMETER_TRY(const Format format, output.settle(draft, options.plan.other_names()));
  if (cluster) INFERMETER_TRY_DONE(use_fixed_blocks(draft));
  INFERMETER_TRY(Plan plan, make_plan(draft));
  for (const Subject& subject : plan.subjects) {
    if (!subject.load.empty()) continue;
    return usage_error(
        fmt::format("no load is given for '{}': add, for example, --rate 40, --concurrency 8 or --scenario offline",
                    subject.label));
  }
  MeasureRequest request{
      .plan = std::move(plan), .format = format, .dry_run = options.dry_run, .verbosity = options.verbosity.level()};
  if (cluster) return run_on_cluster(world, std::move(request), *cluster, options.cluster, output);
  return measure_and_report(world, std::move(request), output);
}

}  // namespace

Action declare_load(CLI::App& app) {
  auto options = std::make_shared<LoadOptions>();
  set_help(app, load_help());
  options->load.declare(app);
  options->plan.declare(app, Use::fixed);
  options->output.declare(app);
  app.add_flag("--dry-run", options->dry_run, "Print the plan. Measures nothing.")->group("Running");
  options->verbosity.declare(app, "Running");
  options->cluster.declare(app);
  return [options](Surroundings& world) { return load_action(world, *options); };
}

}  // namespace infermeter
