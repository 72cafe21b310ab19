// infermeter profile: where does the time go, and why is one subject slower than another?
#include <memory>

#include "cli/flags/choose_backends.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/measure_and_report.hpp"
#include "cli/output/help.hpp"
#include "cli/output/profile_files.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kOperatorsShown = 25;

struct ProfileOptions {
  PlanFlags plan;
  ReportOutput output;
  ProfileFilesFlag files;
  bool dry_run = false;
  VerbosityFlags verbosity;
};

HelpText profile_help() {
  return {
      .usage = "infermeter profile SUBJECT… [flags]",
      .about =
          "Shows how long each operator of a model takes, from the runtime's own profile. Subjects are first measured "
          "as by `infermeter run`. Then they are profiled in separate processes, because profiling changes times; the "
          "report shows by how much. Operators are attributed to the nodes of the model. With two subjects the report "
          "explains why one is slower, across runtimes, precisions and versions.",
      .examples = {{"infermeter profile resnet50@onnxruntime", "The slowest operators of a model of the zoo."},
                   {"infermeter profile resnet50@onnxruntime resnet50@openvino",
                    "Also why OpenVINO is slower or faster."},
                   {"infermeter profile resnet50@onnxruntime resnet50@onnxruntime,graph_optimization=extended",
                    "The effect of an option of a runtime."},
                   {"infermeter profile resnet50@onnxruntime --profile-files profiling",
                    "With timelines, flame graphs, summaries and a folder for TensorBoard."},
                   {"infermeter profile mlp@onnxruntime --profile-processes 3 --profile-iterations 10 --format json",
                    "A quick profile, as JSON."},
                   {"infermeter compare resnet50@onnxruntime resnet50@openvino --profile --html report.html",
                    "The result and its explanation on one page."}},
      .notes = {"(rest) is the time between operators; with it the times add up to the inference's.",
                "If profiling slows an inference down by more than 5 %, only shares are shown.",
                "docs/profile.md lists the back ends that report operators. For the others the report says that there "
                "is no table.",
                kExitCodes}};
}

Result<int> profile_action(Surroundings& world, const ProfileOptions& options) {
  INFERMETER_TRY(PlanDraft draft, options.plan.gather(world));
  INFERMETER_TRY_DONE(choose_backends(world, draft, options.verbosity.level()));
  ReportOutput output = options.output;
  INFERMETER_TRY(const Format format, output.settle(draft, options.plan.other_names()));
  ProfileFilesFlag files = options.files;
  if (!files.wanted()) files.folder = options.plan.other_names().save_dir();
  if (draft.plan.profiling.processes == 0) draft.plan.profiling.processes = kProfileProcesses;
  INFERMETER_TRY_DONE(use_fixed_processes(draft));
  MeasureRequest request{.format = format, .dry_run = options.dry_run, .verbosity = options.verbosity.level()};
  request.profile_files = files;
  INFERMETER_TRY(request.plan, make_plan(draft));
  return measure_and_report(world, std::move(request), output);
}

}  // namespace

Action declare_profile(CLI::App& app) {
  auto options = std::make_shared<ProfileOptions>();
  options->output.operators = kOperatorsShown;
  set_help(app, profile_help());
  options->plan.declare(app, Use::fixed);
  options->output.declare(app);
  options->files.declare(app, "Also write");
  app.add_flag("--dry-run", options->dry_run, "Print the plan. Measures nothing.")->group("Running");
  options->verbosity.declare(app, "Running");
  return [options](Surroundings& world) { return profile_action(world, *options); };
}

}  // namespace infermeter
