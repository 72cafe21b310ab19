// infermeter baseline: names for runs, so that later ones can be compared with them.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/flags/date.hpp"
#include "cli/flags/list_format.hpp"
#include "cli/flags/open_store.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/output/columns.hpp"
#include "cli/output/help.hpp"
#include "cli/output/report_file.hpp"
#include "cli/output/report_output.hpp"
#include "cli/stored_runs.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {
namespace {

struct BaselineOptions {
  SomeFlags flags;  // behind the verb or behind its second word
  ListFormat format;
  std::string name, run;
};

std::string baselines_table(const std::vector<Baseline>& baselines) {
  std::vector<std::vector<std::string>> rows{{"baseline", "run", "set (UTC)"}};
  for (const Baseline& baseline : baselines) rows.push_back({baseline.name, baseline.run, utc_text(baseline.set_at)});
  return columns(rows);
}

nlohmann::ordered_json baselines_json(const std::vector<Baseline>& baselines) {
  auto json = nlohmann::ordered_json::array();
  for (const Baseline& baseline : baselines) {
    json.push_back({{"name", baseline.name}, {"run", baseline.run}, {"set_at", baseline.set_at}});
  }
  return json;
}

Result<int> list_baselines(Surroundings& world, const BaselineOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  INFERMETER_TRY(auto store, open_store(world, options.flags, Store::Mode::write_if_possible));
  INFERMETER_TRY(auto baselines, store.baselines());
  LeftOut damaged;
  damaged.take_from(baselines);
  damaged.say(world);
  world.out << (json ? json_text(baselines_json(baselines)) : baselines_table(baselines));
  return 0;
}

// A run that was measured elsewhere, with what its report contains.
Result<Done> keep_run(Store& store, const RunRecord& record) {
  return store.together([&]() -> Result<Done> {
    RunRecord empty = record;
    empty.trials.clear();
    empty.finished = false;
    INFERMETER_TRY_DONE(store.begin_run(empty));
    for (const Samples& trial : record.trials) INFERMETER_TRY_DONE(store.add_trial(record.id, trial));
    return store.finish_run(record);
  });
}

Result<int> set(Surroundings& world, const BaselineOptions& options) {
  std::optional<RunRecord> report;
  if (is_report_file(options.run)) {
    INFERMETER_TRY(report, read_report_file(options.run));
  }
  INFERMETER_TRY(auto store,
                 open_store(world, options.flags, report ? Store::Mode::write : Store::Mode::write_if_possible));
  if (report && !store.id_of_run(report->id)) INFERMETER_TRY_DONE(keep_run(store, *report));
  const std::string& run = report ? report->id : options.run;
  INFERMETER_TRY(const Baseline kept, store.set_baseline(options.name, run, wall_clock_s()));
  world.out << fmt::format("baseline {} is run {}\n", printable(kept.name), printable(kept.run));
  return 0;
}

Result<int> remove(Surroundings& world, const BaselineOptions& options) {
  INFERMETER_TRY(auto store, open_store(world, options.flags, Store::Mode::write_if_possible));
  INFERMETER_TRY_DONE(store.remove_baseline(options.name));
  world.out << fmt::format("there is no baseline {} any more; its run stays\n", printable(options.name));
  return 0;
}

CLI::App* declare_set(CLI::App& app, BaselineOptions& options) {
  CLI::App* set_app = app.add_subcommand("set", "Name a finished run, or move a name to another run.");
  set_help(*set_app, {.usage = "infermeter baseline set NAME RUN|FILE.json [flags]",
                      .about = "Names a finished run. An existing name is moved to this run. A run can also be read "
                               "from its JSON report, which is then stored: its plan, machine, models and trials.",
                      .examples = {{"infermeter baseline set release latest", "Name the latest run release."},
                                   {"infermeter baseline set release baselines/release.json",
                                    "Read the run from a report under version control."}},
                      .notes = {}});
  set_app->add_option("NAME", options.name, "Up to 100 bytes of text.")->required()->type_name("")->group("What");
  set_app
      ->add_option("RUN", options.run,
                   "An id, a prefix of one, latest, previous, another baseline, or a JSON report: FILE.json.")
      ->required()
      ->type_name("")
      ->group("What");
  options.flags.declare(*set_app, {"output_dir", "store"});
  return set_app;
}

void declare_list(CLI::App& app, BaselineOptions& options) {
  CLI::App* list_app = app.add_subcommand("list", "List the names and their runs (default).");
  set_help(*list_app, {.usage = "infermeter baseline list [flags]",
                       .about = "Lists the baselines: name, run, when it was set.",
                       .examples = {{"infermeter baseline list --format json", "For a program."}},
                       .notes = {}});
  options.flags.declare(*list_app, {"output_dir", "store"});
  options.format.declare(*list_app);
}

CLI::App* declare_remove(CLI::App& app, BaselineOptions& options) {
  CLI::App* remove_app = app.add_subcommand("remove", "Remove a name; the run stays in the store.");
  set_help(*remove_app, {.usage = "infermeter baseline remove NAME [flags]",
                         .about = "Removes a name. The run stays in the store.",
                         .examples = {},
                         .notes = {}});
  remove_app->add_option("NAME", options.name, "A name listed by `infermeter baseline list`.")
      ->required()
      ->type_name("")
      ->group("What");
  options.flags.declare(*remove_app, {"output_dir", "store"});
  return remove_app;
}

}  // namespace

Action declare_baseline(CLI::App& app) {
  auto options = std::make_shared<BaselineOptions>();
  set_help(app, {.usage = "infermeter baseline [set|list|remove] …",
                 .about = "Names runs, so that later runs can be compared with them.",
                 .examples = {{"infermeter baseline set release latest", "Name the latest run release."},
                              {"infermeter baseline", "List the names."}},
                 .notes = {kExitCodes}});
  CLI::App* set_app = declare_set(app, *options);
  declare_list(app, *options);
  CLI::App* remove_app = declare_remove(app, *options);
  options->flags.declare(app, {"output_dir", "store"});
  options->format.declare(app);
  app.require_subcommand(0, 1);
  return [options, set_app, remove_app](Surroundings& world) {
    if (set_app->parsed()) return set(world, *options);
    return remove_app->parsed() ? remove(world, *options) : list_baselines(world, *options);
  };
}

}  // namespace infermeter
