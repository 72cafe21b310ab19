// infermeter report: stored runs, rendered again.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/flags/plan_flags.hpp"
#include "cli/output/help.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/profile_files.hpp"
#include "cli/output/report_output.hpp"
#include "cli/output/tensorboard.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;  // empty: the latest
  SomeFlags flags;
  ReportOutput output;
  PlotFlags plot;
  ProfileFilesFlag profile_files;
  TensorBoardFlags tensorboard;
  bool wants_plot = false;
};

HelpText report_help() {
  return {.usage = "infermeter report [RUN…] [flags]",
          .about =
              "Prints a stored run, byte for byte as `infermeter run` printed it. Tables are as wide as the terminal, "
              "or 80 columns without one or with --output. Several runs are printed one after the other, or side by "
              "side on one page with --html.",
          .examples = {{"infermeter report", "The latest run, as a table."},
                       {"infermeter report 20261121 --format json --output run.json",
                        "The run whose id begins with 20261121, with every iteration, to a file."},
                       {"infermeter report latest --format markdown", "For a pull request."},
                       {"infermeter report --format openmetrics --output infermeter.prom",
                        "For Prometheus. Also bencher, google-benchmark, and latex for a paper."},
                       {"infermeter report --html report.html", "The latest run as an HTML page. It works offline."},
                       {"infermeter report 20261121 20261122 --html weeks.html",
                        "Several runs on one page, in this order; it says if their machines differ."},
                       {"infermeter report --plot latency.png",
                        "Latency against batch size, a line per framework and a panel per model."},
                       {"infermeter report --tensorboard runs",
                        "A log folder for TensorBoard: scalars, histograms, operators."},
                       {"infermeter report --profile-files profiles",
                        "The operators of a profiled run as timelines, flame graphs and summaries, for other tools."}},
          .notes = {"`infermeter runs` lists the ids. With --html, --plot, --profile-files or "
                    "--tensorboard nothing is printed. The exit code does not depend on the results.",
                    kExitCodes}};
}

// Pictures and pages come instead of the report, not beside it: one command, one result.
Result<Done> check_plot(const ReportOptions& options) {
  if (!options.output.file.empty() || options.output.no_samples || options.output.html.wanted() ||
      options.flags.has("format")) {
    return usage_error("--plot draws instead of printing: leave --format, --output, --html and --no-samples out");
  }
  if (options.runs.size() > 1) return usage_error("--plot draws one run; --html shows several");
  return options.plot.check(options.output.force);
}

Result<Done> check_profile_files(const ReportOptions& options) {
  if (options.wants_plot || !options.output.file.empty() || options.output.no_samples || options.output.html.wanted() ||
      options.flags.has("format")) {
    return usage_error(
        "--profile-files writes files instead of printing: leave --format, --output, --html, --plot and --no-samples "
        "out");
  }
  if (options.runs.size() > 1) return usage_error("--profile-files writes the profiles of one run: name one");
  return options.profile_files.check(options.output.force);
}

Result<Done> check_tensorboard(const ReportOptions& options) {
  if (options.wants_plot || options.profile_files.wanted() || !options.output.file.empty() ||
      options.output.no_samples || options.output.html.wanted() || options.flags.has("format")) {
    return usage_error(
        "--tensorboard writes files instead of printing: leave --format, --output, --html, --plot, --profile-files and "
        "--no-samples out");
  }
  return options.tensorboard.check();
}

Result<Done> check_html(const ReportOptions& options) {
  if (options.output.file.empty() && !options.flags.has("format")) return Done{};
  return usage_error("--html writes a page instead of printing: leave --format and --output out");
}

Result<Done> check_several(const ReportOptions& options, Format format) {
  if (options.runs.size() < 2 || format == Format::table || format == Format::markdown || format == Format::latex) {
    return Done{};
  }
  return usage_error(fmt::format("{} is a report of one run: ask for each of them by itself (one page: --html FILE)",
                                 to_string(format)));
}

Result<Done> check(const ReportOptions& options, Format format) {
  if (options.tensorboard.wanted()) return check_tensorboard(options);
  if (options.profile_files.wanted()) return check_profile_files(options);
  if (options.wants_plot) return check_plot(options);
  if (options.output.html.wanted()) {
    INFERMETER_TRY_DONE(check_html(options));
  } else {
    INFERMETER_TRY_DONE(check_several(options, format));
  }
  Problems problems;
  options.output.check(problems);
  return problems.result("nothing was written");
}

Result<std::vector<RunRecord>> load(const Surroundings& world, const ReportOptions& options, const Plan& place) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, world.interrupt));
  std::vector<RunRecord> runs;
  for (const std::string& name : options.runs.empty() ? std::vector<std::string>{"latest"} : options.runs) {
    INFERMETER_TRY(RunRecord record, store.load_run(name));
    if (std::ranges::find(runs, record.id, &RunRecord::id) != runs.end()) {
      return usage_error(fmt::format("run {} is asked for twice, the second time as '{}'", record.id, name));
    }
    runs.push_back(std::move(record));
  }
  return runs;
}

Result<Done> write_report_page(Surroundings& world, const ReportOutput& output, const std::vector<RunRecord>& runs,
                               const Plan& place) {
  std::vector<ReportPart> parts;
  for (const RunRecord& record : runs) {
    parts.push_back(page_part(world, record, judge(record), output.page_look(), place));
  }
  return output.html.write(world, parts, output.force, false);
}

Result<Done> print(Surroundings& world, const ReportOutput& output, const std::vector<RunRecord>& runs, Format format) {
  std::string text;
  for (const RunRecord& record : runs) {
    if (!text.empty()) text += '\n';
    text += render(record, judge(record), format, output.look(world));
  }
  return output.write_text(world, text);
}

Result<int> report_action(Surroundings& world, const ReportOptions& given) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(given.flags.apply(draft));
  ReportOptions options = given;
  INFERMETER_TRY(const Format format, options.output.settle(draft));
  INFERMETER_TRY_DONE(check(options, format));
  INFERMETER_TRY(const auto runs, load(world, options, draft.plan));
  if (options.tensorboard.wanted()) {
    INFERMETER_TRY_DONE(options.tensorboard.write(world, runs, options.output.force));
  } else if (options.profile_files.wanted()) {
    INFERMETER_TRY_DONE(options.profile_files.write(world, runs.front(), options.output.force));
  } else if (options.wants_plot) {
    INFERMETER_TRY_DONE(write_plot(world, options.plot, options.output.force, runs.front(), judge(runs.front())));
  } else if (options.output.html.wanted()) {
    INFERMETER_TRY_DONE(write_report_page(world, options.output, runs, draft.plan));
  } else {
    INFERMETER_TRY_DONE(print(world, options.output, runs, format));
  }
  return 0;
}

}  // namespace

Action declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  set_help(app, report_help());
  app.add_option("RUN", options->runs, "Ids, prefixes of ids, previous, baselines, or latest (default).")
      ->type_name("")
      ->group("Run");
  options->flags.declare(app, {"output_dir", "store", "format"});
  options->output.declare(app);
  options->plot.declare(app);
  options->profile_files.declare(app, "Instead of printing: write");
  options->tensorboard.declare(app);
  return [options, &app](Surroundings& world) {
    options->wants_plot = app.count("--plot") + app.count("--metric") > 0;
    return report_action(world, *options);
  };
}

}  // namespace infermeter
