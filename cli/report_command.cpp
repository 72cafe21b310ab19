// infermeter report: a stored run, rendered again.
#include <memory>

#include "cli/help.hpp"
#include "cli/plan_flags.hpp"
#include "cli/plot.hpp"
#include "cli/report_output.hpp"
#include "cli/verb.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

struct ReportOptions {
  std::string run = "latest";
  SomeFlags flags;
  ReportOutput output;
  PlotFlags plot;
  bool wants_plot = false;
};

HelpText help_text() {
  return {
      .usage = "infermeter report [RUN] [flags]",
      .about =
          "Prints a stored run again, byte for byte what `infermeter run` printed: the columns are the "
          "terminal's, and 80 where there is none or with --output.",
      .examples = {{"infermeter report", "The latest run, as a table."},
                   {"infermeter report 20261121 --format json --output run.json",
                    "The run whose id begins so, with every iteration, into a file."},
                   {"infermeter report latest --format markdown", "For a pull request."},
                   {"infermeter report --plot latency.png",
                    "Latency against batch size, a line per framework and a panel per model."}},
      .notes = {"`infermeter runs` lists the ids. The exit code does not depend on what the run found.", kExitCodes}};
}

// Instead of the report, not beside it: one command, one result.
Result<Done> check_plot(const ReportOptions& options) {
  if (!options.output.file.empty() || options.output.no_samples || options.flags.has("format")) {
    return usage_error("--plot draws instead of printing: leave --format, --output and --no-samples out");
  }
  return options.plot.check(options.output.force);
}

Result<int> act(Surroundings& world, const ReportOptions& options) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  INFERMETER_TRY(const Format format, format_from_string(draft.format.empty() ? "table" : draft.format));
  INFERMETER_TRY_DONE(options.output.check());
  if (options.wants_plot) INFERMETER_TRY_DONE(check_plot(options));
  INFERMETER_TRY(auto store, Store::open(store_file(draft.plan.output_dir), Store::Mode::read));
  INFERMETER_TRY(const RunRecord record, store.load_run(options.run));
  const Verdict verdict = judge(record);
  if (options.wants_plot) {
    INFERMETER_TRY_DONE(write_plot(world, options.plot, options.output.force, record, verdict));
  } else {
    INFERMETER_TRY_DONE(options.output.write(world, record, verdict, format));
  }
  return 0;
}

}  // namespace

Action declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  set_help(app, help_text());
  app.add_option("RUN", options->run, "An id, the beginning of one, or latest (default).")->type_name("")->group("Run");
  options->flags.declare(app, {"output_dir", "format"});
  options->output.declare(app);
  options->plot.declare(app);
  return [options, &app](Surroundings& world) {
    options->wants_plot = app.count("--plot") + app.count("--metric") > 0;
    return act(world, *options);
  };
}

}  // namespace infermeter
