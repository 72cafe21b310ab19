// infermeter history: what the stored runs say over time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "cli/confirm_change.hpp"
#include "cli/flags/date.hpp"
#include "cli/flags/find_series.hpp"
#include "cli/flags/html_flag.hpp"
#include "cli/flags/list_format.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/output/help.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/machine/machine.hpp"
#include "infermeter/report/history/report.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/comparison.hpp"

namespace infermeter {
namespace {

struct HistoryOptions {
  SomeFlags flags;
  ListFormat format;
  HtmlFlag html;
  bool force = false;
  std::string series, metric = "p50", machine = "this", since;
};

HelpText history_help() {
  return {
      .usage = "infermeter history [SERIES] [flags]",
      .about =
          "Shows results of stored runs over time. Without SERIES: all series, each with its latest change. With "
          "SERIES: its values, its levels, and the changes between them, with what else changed at the same time. "
          "A series is one subject on one machine; its runs are those of `run` and `compare`.",
      .examples = {{"infermeter history", "All series of this machine."},
                   {"infermeter history mlp", "The series whose name or label contains mlp."},
                   {"infermeter history mlp --metric peak_memory --since 2026-01-01", "Its memory since January."},
                   {"infermeter history mlp --html history.html", "An interactive chart of all runs."},
                   {"infermeter history --machine all --format json", "All series of all machines, as JSON."}},
      .notes = {"A history is not a verdict: days differ by more than builds. If the last change is a regression, the "
                "report says how to confirm it by a direct comparison. The exit code does not depend on the results.",
                kExitCodes}};
}

// Damaged runs are no reason to show nothing.
void say_completion(Surroundings& world, const Store::Completion& completion) {
  for (const std::string& run : completion.unreadable) {
    world.err << fmt::format("infermeter: run {} is damaged and left out (`infermeter report {}` says how)\n",
                             printable(run), printable(run));
  }
}

HistoryReport make_report(const FigureQuery& query, const std::string& this_machine,
                          const std::vector<MachineName>& machines, std::vector<History> histories) {
  HistoryReport report{
      .metric = query.metric, .this_machine = this_machine, .machines = {}, .entries = {}, .hidden_runs = 0};
  for (const MachineName& machine : machines) {
    if (!query.machine || machine.machine == *query.machine) {
      report.machines.push_back(machine);
    } else {
      report.hidden_runs += machine.runs;
    }
  }
  for (History& history : histories) report.entries.push_back({.history = std::move(history), .confirmation = {}});
  return report;
}

// Builds of another machine's disk are not for us to find.
Result<Done> add_confirmations(Store& store, HistoryReport& report) {
  for (HistoryEntry& entry : report.entries) {
    if (entry.history.alarm() == nullptr || entry.history.machine != report.this_machine) continue;
    INFERMETER_TRY(entry.confirmation, confirmation_of(store, entry.history));
  }
  return Done{};
}

Result<FigureQuery> query_of(Store& store, const HistoryOptions& options, const std::string& this_machine) {
  FigureQuery query;
  INFERMETER_TRY(query.metric, metric_from_string(options.metric));
  if (!options.since.empty()) {
    INFERMETER_TRY(query.since, date_from_string(options.since));
  }
  const bool is_named = options.machine != "this" && options.machine != "all";
  std::vector<MachineName> machines;
  if (is_named) {
    INFERMETER_TRY(machines, store.list_machines(query));
  }
  INFERMETER_TRY(query.machine, find_machine(options.machine, this_machine, machines));
  if (options.series.empty()) return query;
  INFERMETER_TRY(const auto series, store.list_series(query));
  auto found = find_series(options.series, series, query.machine);
  if (!found.ok() && query.machine) {  // it may be another machine's
    FigureQuery everywhere = query;
    everywhere.machine.reset();
    INFERMETER_TRY(const auto all, store.list_series(everywhere));
    found = find_series(options.series, all, query.machine);
  }
  if (!found.ok()) return found.error();
  query.series = std::move(*found);
  return query;
}

Result<HistoryReport> read_report(Store& store, const HistoryOptions& options) {
  const std::string this_machine = machine_fingerprint(read_environment());
  INFERMETER_TRY(const FigureQuery query, query_of(store, options, this_machine));
  FigureQuery everywhere = query;
  everywhere.machine.reset();
  INFERMETER_TRY(const auto machines, store.list_machines(everywhere));
  INFERMETER_TRY(auto figures, store.figures(query));
  auto report = make_report(query, this_machine, machines, judge_histories(std::move(figures)));
  if (query.series) INFERMETER_TRY_DONE(add_confirmations(store, report));
  return report;
}

Result<int> history_action(Surroundings& world, const HistoryOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  INFERMETER_TRY_DONE(options.html.check(options.force));
  INFERMETER_TRY(auto store, Store::open(draft.plan, Store::Mode::write_if_possible, world.interrupt));
  INFERMETER_TRY(const auto completion, store.complete_figures());
  say_completion(world, completion);
  INFERMETER_TRY(const HistoryReport report, read_report(store, options));
  const bool in_full = !options.series.empty();
  if (json) {
    world.out << render_history_json(report, in_full);
  } else {
    world.out << (in_full ? render_history(report, world.width) : render_series_list(report, world.width));
  }
  if (!options.html.wanted()) return 0;
  INFERMETER_TRY_DONE(options.html.write(world, history_part(report), options.force, false));
  return 0;
}

}  // namespace

Action declare_history(CLI::App& app) {
  auto options = std::make_shared<HistoryOptions>();
  set_help(app, history_help());
  app.add_option("SERIES", options->series, "Part of a series' name or label that matches one series only.")
      ->type_name("")
      ->group("What");
  app.add_option("--metric", options->metric,
                 "p50 (default), p90, p95, p99, mean, throughput, peak_memory, load_time, compile_time, "
                 "first_inference_time, or a figure of a load, for example response_p99.")
      ->type_name("NAME")
      ->group("What");
  app.add_option("--machine", options->machine, "this (default), all, or a prefix of a fingerprint.")
      ->type_name("NAME")
      ->group("What");
  app.add_option("--since", options->since, "Leave out earlier runs: 2026-11-21, 2026-11-21T11:42 (UTC).")
      ->type_name("DATE")
      ->group("What");
  options->flags.declare(app, {"output_dir", "store"});
  options->format.declare(app);
  options->html.declare(app, "Results");
  app.add_flag("--force", options->force, "Overwrite existing files.")->group("Results");
  return [options](Surroundings& world) { return history_action(world, *options); };
}

}  // namespace infermeter
