// infermeter compare: is B faster or slower than A? Pairs of fresh processes until it is known.
#include <fmt/format.h>

#include <memory>

#include "cli/cluster_run.hpp"
#include "cli/flags/choose_backends.hpp"
#include "cli/flags/cluster_flags.hpp"
#include "cli/flags/load_flags.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/fresh_runs.hpp"
#include "cli/measure_and_report.hpp"
#include "cli/output/help.hpp"
#include "cli/output/report_output.hpp"
#include "cli/stored_runs.hpp"
#include "cli/verbs/verb.hpp"

namespace infermeter {
namespace {

constexpr const char* kAsked = "What is asked";

constexpr const char *kComparesSubjects = "subjects", *kComparesMachines = "machines";

struct CompareOptions {
  PlanFlags plan;
  LoadFlags load;
  ReportOutput output;
  ClusterFlags cluster;
  std::string a_library, b_library;
  std::string compared = "subjects";  // --compare
  bool fail_slower = false, fail_inconclusive = false;
  bool dry_run = false;
  VerbosityFlags verbosity;
};

HelpText compare_help() {
  return {
      .usage =
          "infermeter compare A B [C…] [flags]  or  infermeter compare RUN RUN [flags]  or  infermeter compare [RUN…] "
          "--compare machines",
      .about =
          "Decides whether B (and C, …) is faster or slower than A, with a known false-alarm rate. Pilot processes "
          "determine the warm-up and the number of iterations. Then pairs of fresh processes run in random order, and "
          "after 8, 10, 12, … pairs an exact signed-rank test decides whether the result is clear. Outputs are "
          "compared before times are.",
      .examples = {{"infermeter compare resnet50@onnxruntime resnet50@openvino", "Two runtimes."},
                   {"infermeter compare model.onnx@onnxruntime quantised.onnx@onnxruntime --margin 2%",
                    "Two model files; differences below 2 % do not matter."},
                   {"infermeter compare resnet50@onnxruntime --a-backend-library old/libonnxruntime.so "
                    "--b-backend-library new/libonnxruntime.so --fail-slower",
                    "Two builds of one runtime; exit code 1 if the new one is slower."},
                   {"infermeter compare mlp@openvino,threads=1 mlp@openvino,threads=2 --metric peak_memory",
                    "Two settings, by their memory."},
                   {"infermeter compare mlp@onnxruntime mlp@openvino --rate 100 --metric response_p99",
                    "Two runtimes under the same load, by the 99th percentile of the response time."},
                   {"infermeter compare resnet50@onnxruntime resnet50@openvino --html report.html",
                    "With an HTML page that shows every pair."},
                   {"infermeter compare resnet50@onnxruntime resnet50@openvino --budget 2m --until-resolved",
                    "As many pairs as needed, for at most two minutes."},
                   {"infermeter compare resnet50@onnxruntime resnet50@openvino --on slurm --nodes 8 --wait",
                    "Forty pairs on eight nodes of a cluster; both of a pair on one node."},
                   {"infermeter compare previous latest", "What changed between the last two stored runs."},
                   {"infermeter compare latest --compare machines", "The nodes of a run over nodes, by its subjects."}},
      .notes = {
          "SHARE is 1% or 0.01, TIME is 30s, 5m, 250ms, or plain seconds.",
          "A difference is a share of A's value: B at 97 ms against 100 ms is 3 % faster.",
          "RUN is an id or its beginning, latest, previous, a name (`infermeter baseline`), or a JSON report. The "
          "subjects that both runs have are compared, the first run being the baseline. Runs are not interleaved: what "
          "drifts between them is part of the difference.",
          "With several candidates, p values are corrected (Holm), so that the false-alarm rate does not grow.",
          "An interrupted comparison is finished with `infermeter run --resume`; `infermeter report` prints its report "
          "again.",
          "--fail-slower: exit code 1 if a candidate is slower; --fail-inconclusive: 5 if the result is undecided.",
          kExitCodes}};
}

void declare_compare_flags(CLI::App& app, CompareOptions& options) {
  options.plan.declare(app, Use::comparison);
  options.load.declare(app);
  options.output.declare(app);
  app.add_option(
         "--a-backend-library", options.a_library,
         "The runtime's library for A; with one subject and --b-backend-library the subject is compared with itself.")
      ->type_name("FILE")
      ->group(kAsked);
  app.add_option("--b-backend-library", options.b_library, "The runtime's library for B.")
      ->type_name("FILE")
      ->group(kAsked);
  app.add_option(
         "--compare", options.compared,
         "subjects (default), or machines: the same subject on the nodes of a stored run, or on the machines of "
         "several stored runs, the first one being the baseline.")
      ->type_name("WHAT")
      ->group(kAsked);
  app.add_flag("--fail-slower", options.fail_slower, "Exit code 1 if a candidate is slower.")->group(kAsked);
  app.add_flag("--fail-inconclusive", options.fail_inconclusive, "Exit code 5 if the result is undecided.")
      ->group(kAsked);
  app.add_flag("--dry-run", options.dry_run, "Print the plan. Measures nothing.")->group("Running");
  options.verbosity.declare(app, "Running");
  options.cluster.declare(app);
}

// One subject with two libraries is two subjects.
Result<Done> set_libraries(PlanDraft& draft, const CompareOptions& options) {
  if (options.a_library.empty() && options.b_library.empty()) return Done{};
  if (draft.subjects.size() == 1) draft.subjects.push_back(draft.subjects.front());
  if (draft.subjects.size() != 2) {
    return usage_error(fmt::format("--a-backend-library and --b-backend-library want one or two subjects, got {}",
                                   draft.subjects.size()));
  }
  if (!options.a_library.empty()) draft.subjects[0].backend_library = options.a_library;
  if (!options.b_library.empty()) draft.subjects[1].backend_library = options.b_library;
  return Done{};
}

Result<Plan> comparison_of(PlanDraft draft, const CompareOptions& options) {
  draft.is_comparison = true;
  INFERMETER_TRY_DONE(set_libraries(draft, options));
  INFERMETER_TRY(Plan plan, asked_plan(draft));
  if (plan.question) {
    plan.question->fail_slower = options.fail_slower;
    plan.question->fail_inconclusive = options.fail_inconclusive;
  }
  return plan;
}

// Nothing is measured, so that what says how has no place.
Result<Done> check_flags_for_runs(const CompareOptions& options) {
  std::string flag = options.plan.changing_flag({"subjects", "metric", "margin", "alpha"});
  if (!options.a_library.empty()) flag = "--a-backend-library";
  if (!options.b_library.empty()) flag = "--b-backend-library";
  if (options.load.any()) flag = "the load";
  if (options.dry_run) flag = "--dry-run";
  if (options.cluster.any()) flag = "--on";
  if (flag.empty()) return Done{};
  return usage_error(
      fmt::format("stored runs are compared, and nothing is measured: leave {} out (--metric, --margin, --alpha and "
                  "those of the report can be given)",
                  flag));
}

Result<int> compare_runs(Surroundings& world, const CompareOptions& options, const PlanDraft& draft) {
  INFERMETER_TRY_DONE(check_flags_for_runs(options));
  ReportOutput output = options.output;
  INFERMETER_TRY(const Format format, output.settle(draft, options.plan.other_names()));
  Problems problems;
  output.check(problems);
  INFERMETER_TRY_DONE(problems.result());
  Question question = draft.question;
  question.fail_slower = options.fail_slower;
  question.fail_inconclusive = options.fail_inconclusive;
  const auto& names = options.plan.positional();
  return options.compared == kComparesMachines
             ? compare_machines(world, names, question, draft.plan, output, format)
             : compare_stored_runs(world, names, question, draft.plan, output, format);
}

Result<int> compare_action(Surroundings& world, const CompareOptions& options) {
  INFERMETER_TRY(PlanDraft draft, options.plan.gather(world));
  if (options.compared == kComparesMachines) return compare_runs(world, options, draft);
  if (options.compared != kComparesSubjects)
    return usage_error(
        fmt::format("--compare: there is no {}; there are subjects, machines", in_quotes(options.compared)));
  INFERMETER_TRY(const bool are_runs, name_two_runs(world, options.plan.positional(), draft.plan));
  if (are_runs) return compare_runs(world, options, draft);
  INFERMETER_TRY_DONE(options.load.apply(draft, options.plan));
  INFERMETER_TRY(const auto cluster, options.cluster.request());
  if (options.cluster.waits() && !cluster)
    return usage_error("--wait waits for a comparison on a cluster: give --on slurm");
  INFERMETER_TRY_DONE(choose_backends(world, draft, options.verbosity.level()));
  ReportOutput output = options.output;
  MeasureRequest request{.dry_run = options.dry_run, .verbosity = options.verbosity.level()};
  draft.is_comparison = true;
  if (cluster) INFERMETER_TRY_DONE(use_fixed_blocks(draft));
  INFERMETER_TRY(request.plan, comparison_of(draft, options));
  INFERMETER_TRY(request.format, output.settle(draft, options.plan.other_names()));
  if (cluster) return run_on_cluster(world, std::move(request), *cluster, options.cluster, output);
  return measure_and_report(world, std::move(request), output);
}

}  // namespace

Action declare_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  set_help(app, compare_help());
  declare_compare_flags(app, *options);
  return [options](Surroundings& world) { return compare_action(world, *options); };
}

}  // namespace infermeter
