// infermeter gate: expectations of a run, each judged on its interval; for continuous integration.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cli/flags/html_flag.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/fresh_runs.hpp"
#include "cli/measure_plan.hpp"
#include "cli/output/help.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/report_file.hpp"
#include "cli/output/report_output.hpp"
#include "cli/stored_runs.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/plan/gate_file.hpp"
#include "infermeter/plan/setting.hpp"
#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/gate/report.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/comparison.hpp"
#include "infermeter/verdict/gate/gate.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 1 << 20;
constexpr int kRepetitionsLookedAt = 100;  // for repetitions of this one
constexpr int kRoundsRepeated = 3;         // of disturbed ones
constexpr const char* kWhatIsJudged = "What is judged";
constexpr const char* kGateResults = "Results";

struct GateOptions {
  std::string file, run, baseline, format, junit, sarif, markdown;
  SomeFlags flags;
  bool fail_inconclusive = false, force = false, resume = false, annotations = false;
  VerbosityFlags verbosity;
  HtmlFlag html;
};

HelpText gate_help() {
  return {
      .usage = "infermeter gate FILE.toml [flags]",
      .about =
          "Checks a run against the expectations in FILE.toml (docs/gate.md): latencies, speed-ups, regressions, "
          "memory, outputs, counters. Each expectation is judged on the whole confidence interval of its figure: it "
          "passes, fails, or is inconclusive, with the reason and what would help. The file names a plan, which is "
          "measured first, or a stored run.",
      .examples = {{"infermeter gate gate.toml", "As the file says: a new run, or the latest one."},
                   {"infermeter gate gate.toml --run latest --baseline nightly",
                    "Check the latest stored run against the run named nightly."},
                   {"infermeter gate gate.toml --run latest --junit gate.xml --markdown gate.md --force",
                    "With report files for continuous integration."},
                   {"infermeter gate gate.toml --run latest --sarif gate.sarif --annotations --force",
                    "With findings that GitHub shows at the lines of gate.toml."},
                   {"infermeter gate gate.toml --html gate.html", "With an HTML page."},
                   {"infermeter gate gate.toml --run latest --fail-inconclusive --format json",
                    "Fail if anything is inconclusive; JSON output."}},
      .notes = {"Expectations: \"latency_p99_ms <= 20\", \"peak_memory_mb < 2048\", \"speedup >= 3\", \"regression "
                "<= 10%\", \"no regression beyond 2%\", \"outputs agree\", \"no leak\", \"reproducible over 3 runs "
                "within 2%\", \"hit_rate >= 0.8\".",
                "Exit codes: 0 all passed, or are inconclusive · 1 an expectation failed · 2 usage or "
                "configuration · 3 a model failed to load or run · 4 a worker crashed, timed out or ran out of "
                "memory · 5 inconclusive, with --fail-inconclusive · 130, 143 interrupted."}};
}

void declare_gate_flags(CLI::App& app, GateOptions& options) {
  app.add_option("FILE", options.file, "The expectations, and the run or plan to check.")
      ->required()
      ->type_name("")
      ->group(kWhatIsJudged);
  app.add_option("--run", options.run,
                 "A stored run: an id, a prefix of one, or latest. Overrides the file's plan and run.")
      ->type_name("RUN")
      ->group(kWhatIsJudged);
  app.add_option("--baseline", options.baseline,
                 "The baseline for regressions: a named run (`infermeter baseline set NAME RUN`), or a JSON report "
                 "of one, FILE.json.")
      ->type_name("NAME|FILE.json")
      ->group(kWhatIsJudged);
  app.add_flag("--resume", options.resume, "Continue an interrupted gate of the same plan.")->group(kWhatIsJudged);
  app.add_flag("--fail-inconclusive", options.fail_inconclusive, "Exit code 5 if anything is inconclusive.")
      ->group(kWhatIsJudged);
  app.add_option("--format", options.format, "table (default), json, markdown.")
      ->type_name("FORMAT")
      ->group(kGateResults);
  app.add_option("--junit", options.junit, "Also write JUnit XML to this file.")
      ->type_name("FILE")
      ->group(kGateResults);
  app.add_option("--sarif", options.sarif, "Also write SARIF 2.1.0 to this file, for code scanning services.")
      ->type_name("FILE")
      ->group(kGateResults);
  app.add_option("--markdown", options.markdown, "Also write Markdown to this file.")
      ->type_name("FILE")
      ->group(kGateResults);
  options.html.declare(app, kGateResults);
  app.add_flag("--force", options.force, "Overwrite existing files (--junit, --sarif, --markdown, --html).")
      ->group(kGateResults);
  app.add_flag(
         "--annotations", options.annotations,
         "Also write annotations of GitHub Actions to standard error: what failed or is inconclusive, at its line "
         "of FILE.")
      ->group(kGateResults);
  options.verbosity.declare(app, kGateResults);
  options.flags.declare(app, {"output_dir", "store", "allow_code"});
  app.get_option("--allow-code")
      ->description(
          "Allow models that contain code (.pt, .pt2, pickles), and code named by FILE or its plan: Python, libraries, "
          "folders of back ends.");
}

// The gate file, with its plan in the draft and the flags over both.
Result<GateFile> read_gate(const GateOptions& options, PlanDraft& draft) {
  INFERMETER_TRY(const std::string text, read_text_file(options.file, kLargestFile, "gate file"));
  INFERMETER_TRY(GateFile file, gate_file_from_toml(text, options.file, draft));
  if (!options.run.empty()) {
    file.run = options.run;
    file.plan_file.reset();
    file.has_plan = false;
  }
  if (file.plan_file) {
    const fs::path plan = fs::path(options.file).parent_path() / *file.plan_file;
    INFERMETER_TRY(const std::string plan_text, read_text_file(plan, kLargestFile, "plan file"));
    INFERMETER_TRY_DONE(apply_toml(draft, plan_text, plan.string()));
  }
  if (file.baseline && is_report_file(*file.baseline)) {
    file.baseline = (fs::path(options.file).parent_path() / *file.baseline).string();  // as its plan is found
  }
  if (!options.baseline.empty()) file.baseline = options.baseline;
  file.fail_inconclusive = file.fail_inconclusive || options.fail_inconclusive;
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  return file;
}

Result<Format> gate_format(const GateOptions& options, const PlanDraft& draft) {
  const std::string& name = options.format.empty() ? draft.format : options.format;
  return format_among(name.empty() ? "table" : name, {Format::table, Format::json, Format::markdown}, "a gate");
}

// `made`: a folder that will be there when they are written.
void check_files(const GateOptions& options, const std::string& made, Problems& problems) {
  for (const std::string& file : {options.junit, options.sarif, options.markdown}) {
    if (!file.empty()) problems.take(check_new_file(file, options.force, made));
  }
  problems.take(options.html.check(options.force, made));
  problems.take(
      check_distinct(std::array{NamedFile{"--junit", options.junit}, NamedFile{"--sarif", options.sarif},
                                NamedFile{"--markdown", options.markdown}, NamedFile{"--html", options.html.file}}));
}

Result<std::optional<RunRecord>> load_baseline(const Surroundings& world, const GateFile& file, const Plan& place) {
  if (!file.baseline) return std::optional<RunRecord>();
  if (is_report_file(*file.baseline)) {
    INFERMETER_TRY(RunRecord report, read_report_file(*file.baseline));
    return std::optional(std::move(report));
  }
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, world.interrupt));
  INFERMETER_TRY(const std::string id, store.baseline_run(*file.baseline));
  INFERMETER_TRY(RunRecord record, store.load_run(id));
  return std::optional(std::move(record));
}

// Finished runs before this one that measured some of it again, newest first.
Result<std::vector<RunRecord>> repetitions(const Surroundings& world, Store& store, const RunRecord& run, int wanted) {
  if (wanted <= 1) return std::vector<RunRecord>();
  INFERMETER_TRY(auto listings, store.list_runs());
  std::erase_if(listings, [&](const RunListing& listing) {
    return !listing.finished || listing.id == run.id || listing.created_at > run.created_at;
  });
  std::ranges::sort(listings, std::ranges::greater(),
                    [](const auto& one) { return std::pair(one.created_at, one.id); });
  std::vector<RunRecord> found;
  LeftOut left_out;
  int complete = 0, looked_at = 0;
  for (const RunListing& listing : listings) {
    if (complete + 1 >= wanted || looked_at++ == kRepetitionsLookedAt) break;
    INFERMETER_TRY(auto record, left_out.load(world, store, listing));
    if (!record) continue;
    const std::size_t repeated = repeated_subjects(run, *record);
    complete += repeated == run.plan.subjects.size() ? 1 : 0;
    if (repeated > 0) found.push_back(std::move(*record));
  }
  left_out.say(world);
  return found;
}

// The run that is judged comes first, then those that `reproducible` looks at, newest first.
Result<std::vector<RunRecord>> stored_runs(const Surroundings& world, const Gate& gate, const GateFile& file,
                                           const Plan& place) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, world.interrupt));
  INFERMETER_TRY(RunRecord run, store.load_run(file.run.value_or("latest")));
  if (!run.finished) {
    return usage_error(
        fmt::format("run {} is not finished, so that nothing can be expected of it; `infermeter run "
                    "--resume {}` finishes it",
                    run.id, run.id));
  }
  INFERMETER_TRY_DONE(check_gate(gate, run.plan, file.baseline.has_value()));
  INFERMETER_TRY(auto runs, repetitions(world, store, run, runs_wanted(gate)));
  runs.insert(runs.begin(), std::move(run));
  return runs;
}

// Regressions without a baseline are looked for within the run, which is a comparison then: of all its pairs, since the
// look that first shows a direction leaves open on which side of a margin the difference lies.
Result<Plan> plan_for(const Gate& gate, const GateFile& file, PlanDraft draft) {
  const bool wants_pairs = asks_for_regression(gate) && !file.baseline;
  draft.is_comparison = draft.is_comparison || wants_pairs;
  if (!draft.is_comparison && !draft.repeat_disturbed) draft.repeat_disturbed = kRoundsRepeated;
  if (wants_pairs) draft.question.all_pairs = !draft.question.until_resolved;
  return asked_plan(draft);
}

Result<std::vector<RunRecord>> measured_runs(Surroundings& world, const Gate& gate, const GateFile& file,
                                             PlanDraft draft, const GateOptions& options, Problems& unwritten) {
  INFERMETER_TRY(const Plan plan, plan_for(gate, file, std::move(draft)));
  INFERMETER_TRY_DONE(check_gate(gate, plan, file.baseline.has_value()));
  INFERMETER_TRY_DONE(check_labels(gate.expectations, plan));
  INFERMETER_TRY(const Launcher launcher, find_launcher(plan.backend_path));
  RunCheck check = check_before_run(world, plan, launcher);
  check_files(options, plan.output_dir, check.problems);
  INFERMETER_TRY_DONE(nothing_measured(check.problems));
  RunSeries series;
  if (options.resume) {
    INFERMETER_TRY(series, RunSeries::resumed(world, std::span(&plan, 1)));
    series.left_out().say(world);
    const std::vector<Plan> wanted(static_cast<std::size_t>(runs_wanted(gate)), plan);
    if (series.has_finished(wanted)) {
      return usage_error(
          fmt::format("nothing was interrupted: the last gate of this plan is finished. Leave --resume out, and it is "
                      "measured anew; --run {} judges what it measured",
                      series.earlier().back().id));
    }
  }
  auto runs = series.runs(world, plan, launcher, runs_wanted(gate), options.verbosity.level());
  unwritten.add_all(series.unwritten());
  return runs;
}

void write_files(const GateOptions& options, const RunRecord& record, const Gate& gate, const GateVerdict& verdict,
                 Problems& unwritten) {
  if (!options.junit.empty()) {
    unwritten.take(write_file(options.junit, render_junit(record, gate, verdict), options.force));
  }
  if (!options.sarif.empty()) {
    unwritten.take(write_file(options.sarif, render_sarif(record, gate, verdict), options.force));
  }
  if (options.markdown.empty()) return;
  const std::string text = render_gate(record, gate, verdict, Format::markdown, {});
  unwritten.take(write_file(options.markdown, text, options.force));
}

Result<std::vector<RunRecord>> runs_to_judge(const Surroundings& world, const Gate& gate, const GateFile& file,
                                             const GateOptions& options, const Plan& place) {
  Problems problems;
  check_files(options, {}, problems);
  INFERMETER_TRY_DONE(problems.result("nothing was judged"));
  return stored_runs(world, gate, file, place);
}

Result<int> gate_action(Surroundings& world, const GateOptions& options) {
  // What is expected, and of what.
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY(const GateFile file, read_gate(options, draft));
  INFERMETER_TRY(const Gate gate, make_gate(file, options.file));
  INFERMETER_TRY(const Format format, gate_format(options, draft));
  const Plan place = draft.plan;
  INFERMETER_TRY(const auto baseline, load_baseline(world, file, place));

  // The run: a new one, one that was interrupted, or a stored one.
  if (options.resume && !file.is_fresh())
    return usage_error("--resume continues a plan that is being measured: a stored run is judged unchanged");
  Problems unwritten;
  INFERMETER_TRY(const auto runs, file.is_fresh()
                                      ? measured_runs(world, gate, file, std::move(draft), options, unwritten)
                                      : runs_to_judge(world, gate, file, options, place));

  const RunRecord& record = runs.front();
  const Verdict of_run = judge(record);
  const GateVerdict verdict = judge_gate(gate, {.run = record,
                                                .verdict = of_run,
                                                .baseline = baseline ? &*baseline : nullptr,
                                                .baseline_name = file.baseline.value_or(""),
                                                .earlier = std::span(runs).subspan(1)});
  write_files(options, record, gate, verdict, unwritten);
  if (options.annotations) world.err << render_github(record, gate, verdict) << std::flush;
  world.out << render_gate(record, gate, verdict, format, {.color = use_color(world), .width = world.width});
  if (options.html.wanted()) {
    unwritten.take(options.html.write(world, gate_part(record, of_run, gate, verdict), options.force,
                                      options.verbosity.level() == Verbosity::quiet));
  }
  return unless_unwritten(unwritten, exit_code_of_run(world, record, verdict.exit_code));
}

}  // namespace

Action declare_gate(CLI::App& app) {
  auto options = std::make_shared<GateOptions>();
  set_help(app, gate_help());
  declare_gate_flags(app, *options);
  return [options](Surroundings& world) { return gate_action(world, *options); };
}

}  // namespace infermeter
