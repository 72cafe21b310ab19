// infermeter study: several plans that answer one question together.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/cluster_series.hpp"
#include "cli/flags/cluster_flags.hpp"
#include "cli/flags/find_study.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/fresh_runs.hpp"
#include "cli/measure_plan.hpp"
#include "cli/output/columns.hpp"
#include "cli/output/dry_run.hpp"
#include "cli/output/help.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/report_output.hpp"
#include "cli/output/study_files.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/fleet/job_folder.hpp"
#include "infermeter/fleet/slurm.hpp"
#include "infermeter/plan/study_file.hpp"
#include "infermeter/report/forms/document.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/comparison.hpp"

namespace infermeter {
namespace {

constexpr std::size_t largest_file = 1 << 20;
constexpr const char* kWhat = "What is measured";
constexpr const char* kStudyResults = "Results";

struct StudyOptions {
  std::string study, preset, reports = "reports";
  std::vector<std::string> only;
  SomeFlags flags;
  ClusterFlags cluster;
  bool dry_run = false, force = false, resume = false, no_samples = false, fail_inconclusive = false;
  VerbosityFlags verbosity;
};

// A part that is ready to be measured.
struct PreparedPart {
  Plan plan;
  StudyPartRequest request;
};

struct PreparedStudy {
  StudySource source;
  StudyFile file;
  std::vector<PreparedPart> parts;
  Plan place;  // where its runs are stored
  std::string format;
};

HelpText study_help() {
  return {
      .usage = "infermeter study [NAME|FILE.toml] [flags]",
      .about =
          "Measures the parts of a study one after the other. Each part is a plan with expectations (a checklist, as "
          "in gate files), and with the speed-up that counters of the workload predict beside the measured one. Writes "
          "a folder of reports: JSON and text of each part, a summary, an HTML page, profiles.",
      .examples = {{"infermeter study", "List the available studies."},
                   {"infermeter study imaging", "The benefit of caches in an imaging pipeline; five minutes."},
                   {"infermeter study imaging --preset small", "A smaller version: twenty seconds."},
                   {"infermeter study imaging --dry-run", "Show what would be measured."},
                   {"infermeter study imaging --on slurm --wait", "All parts at once, on nodes of a cluster."}},
      .notes = {
          "Report files are written to the folder of --reports; runs are stored like any other (`infermeter runs`).",
          "An interrupted study reports its finished parts; --resume (with --force, for its files) continues it.",
          "docs/study.md explains how to write a study.",
          "Exit codes: 0 all expectations passed, or are inconclusive · 1 one failed · 2 usage or "
          "configuration · 3 a model failed to load or run · 4 a worker crashed, timed out or ran out of "
          "memory · 5 inconclusive, with --fail-inconclusive · 130, 143 interrupted."}};
}

void declare_study_flags(CLI::App& app, StudyOptions& options) {
  app.add_option("STUDY", options.study,
                 "The name of a study that ships with infermeter, or a file. Without it: the list of studies.")
      ->type_name("")
      ->group(kWhat);
  app.add_option("--preset", options.preset, "One of the study's presets (`infermeter study` lists them).")
      ->type_name("NAME")
      ->group(kWhat);
  app.add_option("--part", options.only,
                 "Measure only this part (--dry-run lists them; parts marked on_request are measured only if named "
                 "here). May be repeated.")
      ->type_name("NAME")
      ->expected(1)
      ->take_all()
      ->group(kWhat);
  app.add_flag("--resume", options.resume, "Continue an interrupted study.")->group(kWhat);
  app.add_flag("--dry-run", options.dry_run, "Print what would be measured. Measures nothing.")->group(kWhat);
  app.add_option("--reports", options.reports, "Folder for the report files. Default: reports.")
      ->type_name("FOLDER")
      ->group(kStudyResults);
  app.add_flag("--force", options.force, "Overwrite existing files.")->group(kStudyResults);
  app.add_flag("--no-samples", options.no_samples,
               "Leave single iterations, and what trials record of requests and tokens, out of JSON and HTML.")
      ->group(kStudyResults);
  app.add_flag("--fail-inconclusive", options.fail_inconclusive, "Exit code 5 if anything is inconclusive.")
      ->group(kStudyResults);
  options.verbosity.declare(app, kStudyResults);
  options.flags.declare(
      app, {"backend_path", "allow_code", "processes", "profile", "profile_processes", "profile_iterations", "stacks",
            "python_profiler", "seed", "data_seed", "cpus", "load_timeout", "run_timeout", "memory_limit", "sandbox",
            "output_dir", "store", "format"});
  options.cluster.declare(app);
  app.get_option("--format")->description("table (default), json, markdown.");
  app.get_option("--processes")
      ->description("Worker processes per subject, the independent repetitions. Default: what the study says, or 3.");
  app.get_option("--allow-code")
      ->description(
          "Allow models that contain code (.pt, .pt2, pickles), and code named by the study: Python, libraries, "
          "folders of back ends.");
}

// --- the list -------------------------------------------------------------------------------------------------------

std::vector<std::string> row_of(const StudySource& source) {
  const auto text = read_text_file(source.file, largest_file, "study");
  if (!text) return {source.name, "", text.error().message};
  const auto study = study_file_from_toml(*text, source.file.string(), "", {});
  if (!study) return {source.name, "", study.error().message};
  std::vector<std::string> presets;
  for (const StudyPreset& preset : study->presets) presets.push_back(preset.name);
  return {source.name, presets.empty() ? "none" : fmt::format("{}", fmt::join(presets, ", ")), study->title};
}

int list_studies(Surroundings& world) {
  const auto studies = shipped_studies();
  if (studies.empty()) {
    world.out << "No study ships with this installation; one of your own is a file (docs/study.md).\n";
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"study", "presets", "question"}};
  for (const StudySource& study : studies) rows.push_back(row_of(study));
  world.out << columns(rows);
  return 0;
}

// --- what is to be done ---------------------------------------------------------------------------------------------

Result<PreparedPart> prepare(const StudyPart& part, const StudyOptions& options, bool on_cluster) {
  PreparedPart prepared{.plan = {}, .request = {.name = part.name, .title = part.title}};
  PlanDraft draft = part.draft;
  INFERMETER_TRY_DONE(options.flags.apply(draft));
  if (on_cluster) INFERMETER_TRY_DONE(use_fixed_blocks(draft));
  const GateFile expected{.fail_inconclusive = options.fail_inconclusive, .expectations = part.expectations};
  INFERMETER_TRY(prepared.request.gate, make_gate(expected, part.title));
  if (part.prediction) {
    prepared.request.counter = part.prediction->counter;
    INFERMETER_TRY(prepared.request.metric, metric_from_string(part.prediction->metric));
  }
  INFERMETER_TRY(prepared.plan, asked_plan(draft));
  INFERMETER_TRY_DONE(check_gate(prepared.request.gate, prepared.plan, false));
  return prepared;
}

// Subjects that files are asked of must be there.
Result<Done> check_outputs(const PreparedStudy& study) {
  for (const StudyOutput& output : study.file.outputs) {
    if (!output.subject) continue;
    const auto part = std::ranges::find(study.parts, output.part, [](const auto& one) { return one.request.name; });
    const auto& subjects = part->plan.subjects;
    if (std::ranges::find(subjects, output.subject->text, &Subject::label) != subjects.end()) continue;
    return output.subject->error(0, fmt::format("part '{}' has no subject '{}'", output.part, output.subject->text));
  }
  return Done{};
}

Result<PreparedStudy> prepare(const Surroundings& world, const StudyOptions& options, bool on_cluster) {
  PreparedStudy study;
  INFERMETER_TRY(study.source, find_study(options.study));
  INFERMETER_TRY(const std::string text, read_text_file(study.source.file, largest_file, "study"));
  INFERMETER_TRY(PlanDraft base, ambient_draft(world));
  INFERMETER_TRY(study.file, study_file_from_toml(text, study.source.file.string(), options.preset, base));
  if (!options.only.empty()) {
    if (const auto kept = study.file.leave_only(options.only); !kept) {
      return usage_error(fmt::format("--part: {}", kept.error().message));
    }
  }
  if (options.only.empty()) study.file.leave_out_on_request();
  if (const auto named = study.file.check_file_names(options.only.empty() ? study.source.file.string() : "--part");
      !named) {
    return options.only.size() < 2
               ? named.error()
               : usage_error(named.error().message + ": measure them one after the other, each with its own --reports");
  }
  if (study.file.parts.empty()) {
    return usage_error(fmt::format("{}: all of its parts are measured on request only: name them with --part",
                                   study.source.file.string()));
  }
  for (const StudyPart& part : study.file.parts) {
    auto prepared = prepare(part, options, on_cluster);
    if (!prepared) {
      return Error{prepared.error().kind, fmt::format("part '{}': {}", part.name, prepared.error().message)};
    }
    study.parts.push_back(std::move(*prepared));
  }
  INFERMETER_TRY_DONE(check_outputs(study));
  INFERMETER_TRY_DONE(options.flags.apply(base));
  study.place = base.plan;
  study.format = base.format.empty() ? "table" : base.format;
  return study;
}

Result<Format> study_format(const PreparedStudy& study) {
  return format_among(study.format, {Format::table, Format::json, Format::markdown}, "a study");
}

void describe_study(Surroundings& world, const PreparedStudy& study) {
  const auto earlier = earlier_runs(world, study.place);
  for (const PreparedPart& part : study.parts) {
    const int runs = runs_wanted(part.request.gate);
    world.out << fmt::format("== {}: {}{}\n", part.request.name, printable(part.request.title),
                             runs > 1 ? fmt::format(" ({} times)", runs) : "")
              << describe_plan(part.plan, earlier);
    for (const Expectation& expectation : part.request.gate.expectations) {
      const std::string subject = expectation.subject ? fmt::format(", {}", printable(expectation.subject->text)) : "";
      world.out << fmt::format("expected: {}{}\n", printable(expectation.source.text), subject);
    }
    world.out << '\n';
  }
}

// --- measuring ------------------------------------------------------------------------------------------------------

// `each_run`: as often as it is to be measured.
std::vector<Plan> plans_of(const PreparedStudy& study, bool each_run = false) {
  std::vector<Plan> plans;
  for (const PreparedPart& part : study.parts)
    plans.insert(plans.end(), each_run ? static_cast<std::size_t>(runs_wanted(part.request.gate)) : 1, part.plan);
  return plans;
}

// Whether what is to go on has tasks elsewhere.
bool was_begun_on_cluster(const Surroundings& world, const PreparedStudy& study) {
  const auto series = RunSeries::resumed(world, plans_of(study));
  if (!series.ok()) return false;
  return std::ranges::any_of(series->earlier(), [&](const RunRecord& record) {
    const auto job = find_job(study.place.output_dir, record.id);
    return job.ok() && job->has_value();
  });
}

StudyRecord begun_record(const PreparedStudy& study, const StudyOptions& options) {
  return {.name = study.source.name,
          .preset = options.preset,
          .title = study.file.title,
          .about = study.file.about,
          .parts = {}};
}

void say_part(Surroundings& world, const PreparedStudy& study, std::size_t part, const StudyOptions& options) {
  if (options.verbosity.level() == Verbosity::quiet) return;
  world.err << fmt::format("part {} of {}: {}\n", part + 1, study.parts.size(),
                           printable(study.parts[part].request.title));
}

// Begins what has not begun, and takes in what is there; without `cluster` nothing is submitted. nullopt: the runs are
// begun, or still at work, and nobody waits.
Result<std::optional<StudyRecord>> study_on_cluster(Surroundings& world, PreparedStudy& study,
                                                    const StudyOptions& options,
                                                    const std::optional<ClusterRequest>& cluster,
                                                    const Launcher& launcher, StudyFiles& files) {
  const std::string again = fmt::format("infermeter study {} … --resume --wait --force", printable(options.study, 300));
  RunSeries earlier;
  if (options.resume) {
    INFERMETER_TRY(earlier, RunSeries::resumed(world, plans_of(study)));
    earlier.left_out().say(world);
  }
  INFERMETER_TRY(auto store, Store::open(study.parts.front().plan, Store::Mode::write, world.interrupt));
  ClusterSeries series(world, store, options.cluster, cluster, options.verbosity.level());
  for (const PreparedPart& part : study.parts)
    INFERMETER_TRY_DONE(series.begin(earlier, part.plan, launcher, runs_wanted(part.request.gate)));
  const std::string& job_file = options.cluster.job_file();
  if (!job_file.empty()) INFERMETER_TRY_DONE(write_file(job_file, series.script(), options.force));
  if (cluster && !options.cluster.waits()) {
    world.err << fmt::format(
        "{} begun{}: `{}` takes in what the tasks have measured\n", counted(series.size(), "run is", "runs are"),
        job_file.empty() ? std::string() : fmt::format("; submit {}", printable(job_file, 500)), again);
    return std::optional<StudyRecord>();
  }
  StudyRecord record = begun_record(study, options);
  for (std::size_t i = 0; i < study.parts.size(); ++i) {
    PreparedPart& part = study.parts[i];
    say_part(world, study, i, options);
    INFERMETER_TRY(auto runs, series.take(i));
    files.unwritten().add_all(series.unwritten());
    if (!runs) return std::optional<StudyRecord>();
    record.parts.push_back(study_part(std::move(part.request), std::move(*runs)));
    files.write_part(record.parts.back());
    if (!record.parts.back().record.finished) break;
  }
  return std::optional(std::move(record));
}

Result<StudyRecord> measure_study(Surroundings& world, PreparedStudy& study, const StudyOptions& options,
                                  const Launcher& launcher, StudyFiles& files) {
  const Verbosity verbosity = options.verbosity.level();
  StudyRecord record = begun_record(study, options);
  RunSeries series;
  if (options.resume) {
    INFERMETER_TRY(series, RunSeries::resumed(world, plans_of(study)));
    series.left_out().say(world);
    if (series.has_finished(plans_of(study, true)) && files.are_there()) {
      return usage_error(
          "nothing was interrupted: the study is finished, and its files are there. Leave --resume out, and it is "
          "measured anew");
    }
  }
  for (std::size_t i = 0; i < study.parts.size(); ++i) {
    PreparedPart& part = study.parts[i];
    say_part(world, study, i, options);
    const int wanted = runs_wanted(part.request.gate);
    INFERMETER_TRY(auto runs, series.runs(world, part.plan, launcher, wanted, verbosity));
    files.unwritten().add_all(series.unwritten());
    record.parts.push_back(study_part(std::move(part.request), std::move(runs)));
    files.write_part(record.parts.back());
    if (!record.parts.back().record.finished) break;
  }
  return record;
}

Result<int> report_study(Surroundings& world, const StudyRecord& record, StudyFiles& files, Format format) {
  files.write_whole(record);
  world.out << render_study(record, files.written(), format, {.color = use_color(world), .width = world.width});
  return unless_unwritten(files.unwritten(), exit_code_of_run(world, record.parts.back().record, exit_code_of(record)));
}

// What would otherwise be found when some of the parts have begun.
Result<Done> check_on_cluster(const PreparedStudy& study, const StudyOptions& options, const ClusterRequest& cluster,
                              Problems& problems) {
  if (const std::string& file = options.cluster.job_file(); !file.empty()) {
    if (options.resume)
      return usage_error(fmt::format("the jobs of the study are written already ({}): submit those again",
                                     printable(options.study, 300)));
    problems.take(check_new_file(file, options.force));
  } else if (!options.dry_run && !options.resume) {
    INFERMETER_TRY_DONE(check_slurm());
  }
  for (const PreparedPart& part : study.parts) {
    const auto possible = check_request(cluster, part.plan);
    if (!possible.ok()) return usage_error(fmt::format("part '{}': {}", part.request.name, possible.error().message));
  }
  return Done{};
}

Result<int> study_action(Surroundings& world, const StudyOptions& options) {
  if (options.study.empty()) return list_studies(world);
  INFERMETER_TRY(const auto cluster, options.cluster.request());
  if (options.cluster.waits() && !cluster && !options.resume)
    return usage_error("--wait waits for runs on a cluster: give --on slurm, or --resume");
  INFERMETER_TRY(PreparedStudy study, prepare(world, options, options.cluster.any()));
  bool on_cluster = options.cluster.any();
  if (options.resume && !on_cluster) {
    auto begun = prepare(world, options, true);
    on_cluster = begun.ok() && was_begun_on_cluster(world, *begun);
    if (on_cluster) study = std::move(*begun);
  }
  INFERMETER_TRY(const Format format, study_format(study));
  INFERMETER_TRY(const Launcher launcher, find_launcher(study.parts.front().plan.backend_path));
  StudyFiles files(study.file, options.reports, options.force, !options.no_samples);
  Problems problems;
  files.check(problems);
  for (const PreparedPart& part : study.parts) problems.add_all(check_before_run(world, part.plan, launcher).problems);
  if (cluster) INFERMETER_TRY_DONE(check_on_cluster(study, options, *cluster, problems));
  INFERMETER_TRY_DONE(nothing_measured(problems));
  if (options.dry_run) {
    describe_study(world, study);
    return 0;
  }
  INFERMETER_TRY_DONE(files.prepare());
  if (on_cluster) {
    INFERMETER_TRY(const auto record, study_on_cluster(world, study, options, cluster, launcher, files));
    return record ? report_study(world, *record, files, format) : Result<int>(0);
  }
  INFERMETER_TRY(const StudyRecord record, measure_study(world, study, options, launcher, files));
  return report_study(world, record, files, format);
}

}  // namespace

Action declare_study(CLI::App& app) {
  auto options = std::make_shared<StudyOptions>();
  set_help(app, study_help());
  declare_study_flags(app, *options);
  return [options](Surroundings& world) { return study_action(world, *options); };
}

}  // namespace infermeter
