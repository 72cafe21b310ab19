// infermeter runs: what the store holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/flags/date.hpp"
#include "cli/flags/list_format.hpp"
#include "cli/flags/open_store.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/output/columns.hpp"
#include "cli/output/help.hpp"
#include "cli/output/report_output.hpp"
#include "cli/stored_runs.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

struct RunsOptions {
  SomeFlags flags;  // behind the verb or behind its second word
  ListFormat format;
  std::string tag;          // of those that are listed
  std::optional<int> last;  // so many of them, the newest
  std::vector<std::string> runs, tags;
  std::string run, note;
  std::optional<int> keep;
  std::string before;
  bool dry_run = false;
};

// Nothing was planned of a run that was imported.
std::string trials_text(const RunListing& run) {
  // A comparison or a race that has ended has planned for more than it needed.
  if (run.trials_planned == 0 || run.finished) return fmt::format("{}", run.trials_done);
  return fmt::format("{}/{}", run.trials_done, run.trials_planned);
}

// Its first line: columns() makes of it what a terminal may see.
std::string note_text(std::string_view note) { return std::string(note.substr(0, note.find('\n'))); }

// On a terminal a run of many subjects takes one line. JSON has all of them.
std::string runs_table(const Surroundings& world, const std::vector<RunListing>& runs) {
  std::vector<std::string> titles{"run", "begun (UTC)", "trials", "state"};
  const bool has_tags = std::ranges::any_of(runs, [](const RunListing& run) { return !run.tags.empty(); });
  const bool has_notes = std::ranges::any_of(runs, [](const RunListing& run) { return !run.note.empty(); });
  if (has_tags) titles.push_back("tags");
  if (has_notes) titles.push_back("note");
  titles.push_back("subjects");
  std::vector<std::vector<std::string>> rows{titles};
  for (const RunListing& run : runs) {
    auto& row = rows.emplace_back(std::vector{run.id, utc_text(run.created_at), trials_text(run),
                                              std::string(run.finished ? "finished" : "unfinished")});
    if (has_tags) row.push_back(fmt::format("{}", fmt::join(run.tags, " ")));
    if (has_notes) row.push_back(note_text(run.note));
    row.push_back(fmt::format("{}", fmt::join(run.labels, " ")));
  }
  return columns(rows, world.out_is_terminal ? std::optional(world.width) : world.asked_width);
}

nlohmann::ordered_json runs_json(const std::vector<RunListing>& runs) {
  auto json = nlohmann::ordered_json::array();
  for (const RunListing& run : runs) {
    json.push_back({{"id", run.id},
                    {"created_at", run.created_at},
                    {"finished", run.finished},
                    {"trials_done", run.trials_done},
                    {"trials_planned", run.trials_planned},
                    {"subjects", run.labels},
                    {"tags", run.tags},
                    {"note", run.note}});
  }
  return json;
}

Result<int> list_action(Surroundings& world, const RunsOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  INFERMETER_TRY(auto store, open_store(world, options.flags, Store::Mode::read));
  INFERMETER_TRY(auto runs, store.list_runs());
  LeftOut left_out;
  left_out.take_from(runs);
  left_out.say(world);
  if (!options.tag.empty()) {
    std::erase_if(runs,
                  [&](const RunListing& run) { return std::ranges::find(run.tags, options.tag) == run.tags.end(); });
  }
  if (options.last) {
    if (*options.last < 1) return usage_error("--last: it is a number of runs, 1 or more");
    const auto more = std::ssize(runs) - *options.last;
    if (more > 0) runs.erase(runs.begin(), runs.begin() + more);
  }
  world.out << (json ? json_text(runs_json(runs)) : runs_table(world, runs));
  return 0;
}

Result<int> tag_action(Surroundings& world, const RunsOptions& options, bool removes) {
  INFERMETER_TRY(auto store, open_store(world, options.flags, Store::Mode::write_if_possible));
  auto id = removes ? store.untag_run(options.run, options.tags) : store.tag_run(options.run, options.tags);
  if (!id.ok()) return std::move(id).error();
  world.out << fmt::format("run {} {} {}\n", printable(*id), removes ? "no longer has" : "has",
                           printable(fmt::format("{}", fmt::join(options.tags, " "))));
  return 0;
}

Result<int> note_action(Surroundings& world, const RunsOptions& options) {
  INFERMETER_TRY(auto store, open_store(world, options.flags, Store::Mode::write_if_possible));
  INFERMETER_TRY(const auto id, store.set_note(options.run, options.note));
  world.out << fmt::format("run {} has {} note\n", printable(id), options.note.empty() ? "no" : "this");
  return 0;
}

Result<int> say_gone(Surroundings& world, Store& store, const std::vector<std::string>& gone) {
  if (!gone.empty()) {
    // They are gone; that the file stays as large is no failure.
    if (const auto shrunk = store.shrink(); !shrunk.ok()) {
      world.err << fmt::format("the file keeps its size, as its space is used again: {}\n", shrunk.error().message);
    }
  }
  world.out << fmt::format("{} deleted\n", counted(gone.size(), "run"));
  return 0;
}

Result<int> delete_action(Surroundings& world, const RunsOptions& options) {
  INFERMETER_TRY(auto store, open_store(world, options.flags, Store::Mode::write_if_possible));
  INFERMETER_TRY(const auto gone, store.delete_runs(options.runs));
  return say_gone(world, store, gone);
}

Result<int> prune_action(Surroundings& world, const RunsOptions& options) {
  if (!options.keep && options.before.empty()) {
    return usage_error("which runs? --keep N leaves the newest N, --before DATE those that began later");
  }
  if (options.keep && *options.keep < 0) return usage_error("--keep: it is a number of runs, 0 or more");
  PruneQuery query{.keep = options.keep, .before = {}};
  if (!options.before.empty()) {
    INFERMETER_TRY(query.before, date_from_string(options.before));
  }
  INFERMETER_TRY(auto store, open_store(world, options.flags,
                                        options.dry_run ? Store::Mode::read : Store::Mode::write_if_possible));
  if (options.dry_run) {
    INFERMETER_TRY(const auto prunable, store.prunable(query));
    world.out << runs_table(world, prunable) << fmt::format("{} would be deleted\n", counted(prunable.size(), "run"));
    return 0;
  }
  INFERMETER_TRY(const auto gone, store.prune_runs(query));
  return say_gone(world, store, gone);
}

constexpr const char* kStays =
    "Runs that a baseline names, that are being measured, and another user's are never deleted. CSV files and pages "
    "that were written stay.";

void declare_choice(CLI::App& app, RunsOptions& options) {
  app.add_option("--tag", options.tag, "Only runs that have this tag.")->type_name("TAG")->group("What");
  app.add_option("--last", options.last, "Only the newest N of them.")->type_name("N")->group("What");
}

void declare_runs_list(CLI::App& app, RunsOptions& options) {
  CLI::App* list_app = app.add_subcommand("list", "List the runs (default).");
  set_help(*list_app, {.usage = "infermeter runs list [flags]",
                       .about = "Lists the stored runs: id, date, number of completed trials, tags, note, subjects.",
                       .examples = {{"infermeter runs list --tag nightly", "Runs with the tag nightly."}},
                       .notes = {}});
  declare_choice(*list_app, options);
  options.flags.declare(*list_app, {"output_dir", "store"});
  options.format.declare(*list_app);
}

void declare_run(CLI::App& app, RunsOptions& options) {
  app.add_option("RUN", options.run, "An id, a prefix of one, latest, previous, or a baseline.")
      ->required()
      ->type_name("")
      ->group("What");
}

CLI::App* declare_tag(CLI::App& app, RunsOptions& options, bool removes) {
  CLI::App* tag_app = removes ? app.add_subcommand("untag", "Remove tags from a run.")
                              : app.add_subcommand("tag", "Add tags to a run.");
  set_help(*tag_app,
           removes ? HelpText{.usage = "infermeter runs untag RUN TAG… [flags]",
                              .about = "Removes tags from a run.",
                              .examples = {},
                              .notes = {}}
                   : HelpText{.usage = "infermeter runs tag RUN TAG… [flags]",
                              .about = "Adds tags to a run: words that `infermeter runs` lists and --tag looks for. "
                                       "Tagged runs are never pruned.",
                              .examples = {{"infermeter runs tag latest nightly paper", "Two tags."}},
                              .notes = {}});
  declare_run(*tag_app, options);
  tag_app->add_option("TAG", options.tags, "Words of up to 100 bytes.")->required()->type_name("")->group("What");
  options.flags.declare(*tag_app, {"output_dir", "store"});
  return tag_app;
}

CLI::App* declare_note(CLI::App& app, RunsOptions& options) {
  CLI::App* note_app = app.add_subcommand("note", "Attach a note to a run.");
  set_help(*note_app,
           {.usage = "infermeter runs note RUN TEXT [flags]",
            .about = "Attaches a note to a run and replaces an earlier one. An empty text removes it.",
            .examples = {{"infermeter runs note latest 'after the BIOS update'", "`infermeter runs` shows it."}},
            .notes = {}});
  declare_run(*note_app, options);
  note_app->add_option("TEXT", options.note, "Up to 10,000 bytes.")->required()->type_name("")->group("What");
  options.flags.declare(*note_app, {"output_dir", "store"});
  return note_app;
}

CLI::App* declare_delete(CLI::App& app, RunsOptions& options) {
  CLI::App* delete_app = app.add_subcommand("delete", "Delete runs.");
  set_help(*delete_app,
           {.usage = "infermeter runs delete RUN… [flags]",
            .about = "Deletes runs with all that belongs to them. If one of them cannot be deleted, none is.",
            .examples = {{"infermeter runs delete 20261121", "The run whose id begins with 20261121."}},
            .notes = {kStays}});
  delete_app->add_option("RUN", options.runs, "Ids, prefixes of ids, latest, or previous.")
      ->required()
      ->type_name("")
      ->group("What");
  options.flags.declare(*delete_app, {"output_dir", "store"});
  return delete_app;
}

CLI::App* declare_prune(CLI::App& app, RunsOptions& options) {
  CLI::App* prune_app = app.add_subcommand("prune", "Delete old runs.");
  set_help(
      *prune_app,
      {.usage = "infermeter runs prune --keep N | --before DATE [flags]",
       .about = "Deletes old runs that are neither tagged nor a baseline's. With both flags a run must be older by "
                "both.",
       .examples = {{"infermeter runs prune --keep 200 --dry-run", "Show which runs would be deleted."},
                    {"infermeter runs prune --keep 200 --before 2026-01-01", "Delete them."}},
       .notes = {kStays}});
  prune_app->add_option("--keep", options.keep, "The newest N runs stay.")->type_name("N")->group("What");
  prune_app->add_option("--before", options.before, "Runs that began on this date (UTC) or later stay.")
      ->type_name("DATE")
      ->group("What");
  prune_app->add_flag("--dry-run", options.dry_run, "Show which runs would be deleted. Deletes nothing.")
      ->group("What");
  options.flags.declare(*prune_app, {"output_dir", "store"});
  return prune_app;
}

}  // namespace

Action declare_runs(CLI::App& app) {
  auto options = std::make_shared<RunsOptions>();
  set_help(app, {.usage = "infermeter runs [list|tag|untag|note|delete|prune] …",
                 .about = "Lists the stored runs: id, date, number of completed trials, tags, note, subjects.",
                 .examples = {{"infermeter runs", "The runs in results/."},
                              {"infermeter runs --format json | jq -r '.[] | select(.finished | not) | .id'",
                               "The ids of runs that can be resumed."},
                              {"infermeter runs --last 10", "The newest ten."},
                              {"infermeter runs prune --keep 200 --dry-run", "Show which old runs would be deleted."}},
                 .notes = {kExitCodes}});
  declare_runs_list(app, *options);
  CLI::App* tag_app = declare_tag(app, *options, false);
  CLI::App* untag_app = declare_tag(app, *options, true);
  CLI::App* note_app = declare_note(app, *options);
  CLI::App* delete_app = declare_delete(app, *options);
  CLI::App* prune_app = declare_prune(app, *options);
  declare_choice(app, *options);
  options->flags.declare(app, {"output_dir", "store"});
  options->format.declare(app);
  app.require_subcommand(0, 1);
  const CLI::App* const root = &app;
  return [=](Surroundings& world) {
    const bool is_list = !tag_app->parsed() && !untag_app->parsed() && !note_app->parsed() && !delete_app->parsed() &&
                         !prune_app->parsed();
    if (!is_list && (!options->tag.empty() || options->last || root->count("--format") > 0))
      return Result<int>(usage_error("--tag, --last and --format are for the list of runs: leave them out"));
    if (tag_app->parsed() || untag_app->parsed()) return tag_action(world, *options, untag_app->parsed());
    if (note_app->parsed()) return note_action(world, *options);
    if (delete_app->parsed()) return delete_action(world, *options);
    return prune_app->parsed() ? prune_action(world, *options) : list_action(world, *options);
  };
}

}  // namespace infermeter
