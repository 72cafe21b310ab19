// infermeter store: runs of one store in another.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/flags/plan_flags.hpp"
#include "cli/output/help.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

struct StoreOptions {
  SomeFlags flags;
  std::string from, to;
  std::vector<std::string> runs;
};

// What stands for a folder is its store.
Result<StorePlace> place_named(const std::string& text) {
  std::error_code error;
  if (std::filesystem::is_directory(text, error)) return StorePlace(std::filesystem::path(text) / "infermeter.db");
  return StorePlace::from_text(text);
}

Result<std::vector<std::string>> ids_to_copy(Store& from, const std::vector<std::string>& names) {
  std::vector<std::string> ids;
  for (const std::string& name : names) {
    INFERMETER_TRY(std::string id, from.id_of_run(name));
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
  }
  if (!names.empty()) return ids;
  INFERMETER_TRY(const auto listed, from.list_runs());
  for (const RunListing& run : listed) ids.push_back(run.id);
  return ids;
}

struct Counts {
  int whole = 0, extended = 0, there_already = 0;
};

// Whoever measures it goes on to change it.
Result<Copied> copy_one(Store& from, Store& to, const std::string& id) {
  if (from.is_being_measured(id)) {
    return io_error(fmt::format("run {} is being measured: it can be copied when that has ended", printable(id)));
  }
  const auto lock = to.lock_run(id);
  if (lock.ok()) return to.copy_run(from, id);
  // Another user's: nothing of it has to change where all of it is there.
  return to.has_all_of(from, id) ? Result<Copied>(Copied::there_already) : Result<Copied>(lock.error());
}

Result<int> copy_runs(Surroundings& world, const StorePlace& from_place, const StorePlace& to_place,
                      const std::vector<std::string>& names) {
  INFERMETER_TRY(auto from, Store::open(from_place, Store::Mode::read, world.interrupt));
  INFERMETER_TRY(const auto ids, ids_to_copy(from, names));
  INFERMETER_TRY(auto to, Store::open(to_place, Store::Mode::write, world.interrupt));
  Counts counts;
  Problems problems;
  std::vector<std::string> refused;
  for (const std::string& id : ids) {
    if (look_at_interrupts(world.interrupt) > 0)
      return usage_error("stopped; what was copied is there, and the same command copies the rest");
    const auto copied = copy_one(from, to, id);
    if (!problems.take(copied)) {
      refused.push_back(id);
      if (to.is_lost() || from.is_lost()) break;
      continue;
    }
    if (*copied == Copied::whole) ++counts.whole;
    if (*copied == Copied::extended) ++counts.extended;
    if (*copied == Copied::there_already) ++counts.there_already;
  }
  if (!to.is_lost() && !from.is_lost()) {
    const auto left = to.copy_baselines(from, refused);
    if (problems.take(left)) {
      for (const Baseline& baseline : *left) {
        world.err << fmt::format("baseline {} names another run in {} and is left as it is\n", printable(baseline.name),
                                 to_place.shown());
      }
    }
  }
  world.out << fmt::format("{}: {} copied, {} extended, {} there already\n", to_place.shown(), counts.whole,
                           counts.extended, counts.there_already);
  INFERMETER_TRY_DONE(problems.result("not copied"));
  return 0;
}

Result<int> copy_action(Surroundings& world, const StoreOptions& options) {
  INFERMETER_TRY(const StorePlace from, place_named(options.from));
  INFERMETER_TRY(const StorePlace to, place_named(options.to));
  return copy_runs(world, from, to, options.runs);
}

Result<int> push_action(Surroundings& world, const StoreOptions& options) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  if (draft.plan.store.empty())
    return usage_error("where to? --store (or INFERMETER_STORE) names the store that runs are brought to");
  INFERMETER_TRY(const StorePlace to, store_place(draft.plan));
  draft.plan.store.clear();
  INFERMETER_TRY(const StorePlace from, store_place(draft.plan));
  return copy_runs(world, from, to, options.runs);
}

CLI::App* declare_copy(CLI::App& app, StoreOptions& options) {
  CLI::App* copy_app = app.add_subcommand("copy", "Copy runs from one store to another.");
  set_help(
      *copy_app,
      {.usage = "infermeter store copy FROM TO [RUN…]",
       .about =
           "Copies runs with all that belongs to them, and the baselines that name them; their reports are the same "
           "to the byte. What is there already is kept, and missing parts of a run are added. FROM and TO are "
           "files, folders of results, or databases.",
       .examples = {{"infermeter store copy results all.db", "Merge what is in results/ into a file."},
                    {"infermeter store copy results/infermeter.db postgresql:///team latest",
                     "Copy one run to a database."}},
       .notes = {kExitCodes}});
  copy_app->add_option("FROM", options.from, "postgresql://HOST/DATABASE, service=NAME, a file, or a folder.")
      ->required()
      ->type_name("")
      ->group("What");
  copy_app->add_option("TO", options.to, "Likewise.")->required()->type_name("")->group("What");
  copy_app->add_option("RUN", options.runs, "Ids, prefixes of ids, latest, or baselines. Default: all.")
      ->type_name("")
      ->group("What");
  return copy_app;
}

void declare_push(CLI::App& app, StoreOptions& options) {
  CLI::App* push_app = app.add_subcommand("push", "Copy the runs of --output-dir to --store.");
  set_help(*push_app,
           {.usage = "infermeter store push [RUN…] [flags]",
            .about = "Copies runs from --output-dir to the store of a team, for example those whose database was lost "
                     "while they were measured. The same as `infermeter store copy OUTPUT_DIR STORE`.",
            .examples = {},
            .notes = {kExitCodes}});
  push_app->add_option("RUN", options.runs, "Ids, prefixes of ids, latest, or baselines. Default: all.")
      ->type_name("")
      ->group("What");
  options.flags.declare(*push_app, {"output_dir", "store"});
}

}  // namespace

Action declare_store(CLI::App& app) {
  auto options = std::make_shared<StoreOptions>();
  set_help(app,
           {.usage = "infermeter store copy|push …",
            .about = "Copies runs from one store to another, for example to merge files or to fill a team's database.",
            .examples = {{"infermeter store copy results all.db", "Merge what is in results/ into a file."}},
            .notes = {kExitCodes}});
  CLI::App* copy_app = declare_copy(app, *options);
  declare_push(app, *options);
  app.require_subcommand(1, 1);
  return [options, copy_app](Surroundings& world) {
    return copy_app->parsed() ? copy_action(world, *options) : push_action(world, *options);
  };
}

}  // namespace infermeter
