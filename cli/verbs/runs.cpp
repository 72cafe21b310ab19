// infermeter runs: what the store holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/flags/date.hpp"
#include "cli/flags/list_format.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/output/columns.hpp"
#include "cli/output/help.hpp"
#include "cli/output/report_output.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {
namespace {

struct RunsOptions {
  SomeFlags flags;
  ListFormat format;
};

std::string runs_table(const std::vector<RunListing>& runs) {
  std::vector<std::vector<std::string>> rows{{"run", "begun (UTC)", "trials", "state", "subjects"}};
  for (const RunListing& run : runs) {
    rows.push_back({run.id, utc_text(run.created_at), fmt::format("{}/{}", run.trials_done, run.trials_planned),
                    run.finished ? "finished" : "unfinished", fmt::format("{}", fmt::join(run.labels, " "))});
  }
  return columns(rows);
}

nlohmann::ordered_json runs_json(const std::vector<RunListing>& runs) {
  auto json = nlohmann::ordered_json::array();
  for (const RunListing& run : runs) {
    json.push_back({{"id", run.id},
                    {"created_at", run.created_at},
                    {"finished", run.finished},
                    {"trials_done", run.trials_done},
                    {"trials_planned", run.trials_planned},
                    {"subjects", run.labels}});
  }
  return json;
}

Result<int> runs_action(Surroundings& world, const RunsOptions& options) {
  INFERMETER_TRY(const bool json, options.format.is_json());
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  INFERMETER_TRY(auto store, Store::open(draft.plan, Store::Mode::read, world.interrupt));
  INFERMETER_TRY(const auto runs, store.list_runs());
  world.out << (json ? json_text(runs_json(runs)) : runs_table(runs));
  return 0;
}

}  // namespace

Action declare_runs(CLI::App& app) {
  auto options = std::make_shared<RunsOptions>();
  set_help(app, {.usage = "infermeter runs [flags]",
                 .about = "Lists the stored runs: id, date, number of completed trials, subjects.",
                 .examples = {{"infermeter runs", "The runs in results/."},
                              {"infermeter runs --format json | jq -r '.[] | select(.finished | not) | .id'",
                               "The ids of runs that can be resumed."}},
                 .notes = {}});
  options->flags.declare(app, {"output_dir", "store"});
  options->format.declare(app);
  return [options](Surroundings& world) { return runs_action(world, *options); };
}

}  // namespace infermeter
