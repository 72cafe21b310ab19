#include "cli/cluster_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "cli/measure_plan.hpp"
#include "cli/output/follow_logs.hpp"
#include "cli/output/output_file.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/fleet/job_text.hpp"
#include "infermeter/fleet/slurm.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/shell_quote.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr int kLook_ms = 250;         // at the logs of the tasks
constexpr int kLooksPerQuestion = 4;  // of which every fourth asks Slurm

std::string resume_command(const RunRecord& record, std::string_view more = {}) {
  const std::string& store = record.plan.store;
  return fmt::format("infermeter run --resume {} --output-dir {}{}{}", record.id,
                     printable(shell_quoted(record.plan.output_dir)),
                     store.empty() ? "" : " --store " + printable(shell_quoted(store)), more);
}

// Nodes have devices that the machine that submits has not: then only the models are looked at here.
bool is_of_other_devices(const Plan& plan) {
  return std::ranges::any_of(
      plan.subjects, [](const Subject& subject) { return subject.device != "auto" && subject.device != "cpu"; });
}

struct Ended {
  bool interrupted = false;
  std::set<int> running{};  // tasks that have not ended
};

// Until no task is left in the queue, or a second signal came.
Result<Ended> wait_for(Surroundings& world, const ClusterJob& job, LogFollower& logs) {
  Ended ended;
  bool complained = false;
  for (int look = 0;; ++look) {
    const int signals = look_at_interrupts(world.interrupt);
    if (signals > 0 && !ended.interrupted) {
      ended.interrupted = true;
      INFERMETER_TRY_DONE(cancel(job, world.interrupt));
    }
    logs.show(world);
    if (look % kLooksPerQuestion == 0 || signals > 1) {
      auto queue = tasks_in_queue(job, world.interrupt);
      if (queue.ok()) {
        ended.running.clear();
        for (const auto& [task, state] : *queue) ended.running.insert(task);
        if (ended.running.empty()) logs.show(world);  // what they said since the last look
        if (ended.running.empty() || signals > 1) return ended;
      } else if (!std::exchange(complained, true)) {
        world.err << fmt::format("{}; still waiting\n", queue.error().message);
      }
      if (signals > 1) return ended;
    }
    ::poll(nullptr, 0, kLook_ms);  // a signal ends it
  }
}

// With what others have submitted until now; to be asked for while the run is locked.
Result<ClusterJob> job_now(ClusterJob job, const Plan& place) {
  INFERMETER_TRY(auto found, find_job(place.output_dir, job.run));
  return found ? std::move(*found) : std::move(job);
}

std::string last_words_of(const ClusterJob& job, int task) {
  std::ifstream stream(job.log_of(task));
  std::string last;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) last = line;
  const std::string file = printable(job.log_of(task).string(), 500);
  return last.empty() ? fmt::format("task {} has said nothing ({})", task, file)
                      : fmt::format("task {} says: {} ({})", task, printable(last, 500), file);
}

// Of a run that was begun for Kubernetes; else nullopt.
std::optional<std::string> replace_command(const ClusterJob& job) {
  std::error_code code;
  const fs::path manifest = job.folder / "job.yaml";
  if (!fs::exists(manifest, code)) return std::nullopt;
  return fmt::format("kubectl replace --force -f {}", printable(shell_quoted(manifest.string()), 500));
}

Error ended_early(const RunRecord& record, const ClusterJob& job, const Collected& collected) {
  const std::string there = record.plan.tuning ? fmt::format("the race of run {} has not ended", record.id)
                                               : fmt::format("{} of the {} blocks of run {} are there", collected.whole,
                                                             collected.blocks, record.id);
  const bool one = collected.missing.size() == 1;
  const std::string tasks = fmt::format("{} {}", one ? "task" : "tasks", fmt::join(collected.missing, ", "));
  const std::string said = last_words_of(job, collected.missing.front());
  if (const auto replace = replace_command(job)) {
    return worker_error(
        fmt::format("{}: {} {} not measured all; {}; `kubectl get jobs` lists what is running, `{}` measures what is "
                    "missing",
                    there, tasks, one ? "has" : "have", said, *replace));
  }
  return worker_error(fmt::format("{}: {} ended before all was measured; {}; `{}` submits what is missing", there,
                                  tasks, said, resume_command(record, " --on slurm")));
}

Result<Done> submit_tasks(Surroundings& world, const RunRecord& record, ClusterJob& job, const std::vector<int>& tasks,
                          bool quiet) {
  INFERMETER_TRY(std::string id, submit(job.folder / "job.sh", tasks, world.interrupt));
  INFERMETER_TRY_DONE(note_id(job, std::move(id)));
  if (!quiet)
    world.err << fmt::format("run {}: {} of Slurm's job {}\n", record.id, counted(tasks.size(), "task"),
                             job.ids.back());
  return Done{};
}

Result<Done> check_script(const ClusterJob& job, const std::vector<int>& tasks, bool allow_code) {
  if (allow_code || has_own_script(job, default_cache())) return Done{};
  const std::string file = printable(shell_quoted((job.folder / "job.sh").string()), 500);
  return usage_error(
      fmt::format("{} is not the script that infermeter wrote for you: it may be anybody's, and would run as you; read "
                  "it, then submit it yourself (sbatch --array={} {}), or give --allow-code",
                  file, fmt::join(tasks, ","), file));
}

Result<int> finish(Surroundings& world, Store& store, RunRecord record, const MeasureRequest& request,
                   const ReportOutput& output, bool complete) {
  INFERMETER_TRY(MeasuredPlan measured, end_run(store, std::move(record), complete));
  if (request.report) return request.report(std::move(measured));
  return report_measured(world, std::move(measured), request, output);
}

// Takes everything in, and reports where there is something to report.
Result<int> take_in(Surroundings& world, Store& store, RunRecord record, const ClusterJob& job,
                    const MeasureRequest& request, const ClusterFlags& flags, const ReportOutput& output,
                    LogFollower& logs) {
  record.plan.output_dir = request.plan.output_dir;
  record.plan.store = request.plan.store;
  INFERMETER_TRY(TakenIn taken, take_trials(world, store, std::move(record), job, flags.waits(), logs));
  if (taken.complete() || taken.interrupted)
    return finish(world, store, std::move(taken.record), request, output, taken.complete());
  say_still_running(world, taken);
  return 0;
}

}  // namespace

Result<Done> use_fixed_blocks(PlanDraft& draft) {
  if (draft.repeat_disturbed.value_or(0) > 0)
    return usage_error("--repeat-disturbed measures blocks again after others: leave it out with --on");
  draft.repeat_disturbed = 0;
  if (draft.is_comparison) {
    draft.question.all_pairs = !draft.question.until_resolved;
    return Done{};
  }
  return use_fixed_processes(draft);
}

Result<TakenIn> take_trials(Surroundings& world, Store& store, RunRecord record, const ClusterJob& job, bool waits,
                            LogFollower& logs) {
  Ended ended;
  const std::string output_dir = record.plan.output_dir, place = record.plan.store;
  if (waits) {
    INFERMETER_TRY(ended, wait_for(world, job, logs));
    store.have_heard(look_at_interrupts(world.interrupt));
  } else if (!job.ids.empty()) {
    INFERMETER_TRY(const auto queue, tasks_in_queue(job, world.interrupt));
    for (const auto& [task, state] : queue) ended.running.insert(task);
  }
  TakenIn taken{.record = std::move(record), .collected = {}, .interrupted = ended.interrupted};
  INFERMETER_TRY(taken.collected, collect(store, taken.record, job, ended.running));
  taken.record.plan.output_dir = output_dir;
  taken.record.plan.store = place;
  taken.running = std::move(ended.running);
  if (!taken.complete() && !taken.interrupted && taken.running.empty())
    return ended_early(taken.record, job, taken.collected);
  return taken;
}

void say_still_running(Surroundings& world, const TakenIn& taken) {
  const auto& [blocks, whole, missing] = taken.collected;
  world.err << fmt::format("run {}: {} of {} blocks are there; {} in Slurm's queue ({})\n", taken.record.id, whole,
                           blocks, counted(taken.running.size(), "task is", "tasks are"),
                           resume_command(taken.record, " --wait"));
}

Result<MeasuredPlan> end_run(Store& store, RunRecord record, bool complete) {
  MeasuredPlan measured;
  record.finished = complete;
  keep_csv(measured, record);
  if (complete) INFERMETER_TRY_DONE(store.finish_run(record));
  measured.record = std::move(record);
  return measured;
}

Result<StartedJob> start_job(Surroundings& world, Store& store, const Plan& plan, const ClusterRequest& cluster,
                             const RunContext& context, const StartOptions& options) {
  INFERMETER_TRY(BegunJob begun, begin_job(store, plan, tasks_of(cluster, plan), context));
  StartedJob started{.begun = std::move(begun), .script = {}};
  const auto start = [&]() -> Result<Done> {
    ClusterJob& job = started.begun.job;
    std::error_code code;
    INFERMETER_TRY(auto allowing, allowing_flags(started.begun.record));
    const JobText text{.request = cluster,
                       .job = job,
                       .record = started.begun.record,
                       .program = fs::read_symlink("/proc/self/exe", code),
                       .folder = fs::current_path(code),
                       .flags = std::move(allowing)};
    const bool slurm = cluster.cluster == Cluster::slurm;
    INFERMETER_TRY(started.script, slurm ? slurm_script(text) : kubernetes_manifest(text));
    INFERMETER_TRY_DONE(write_file(job.folder / (slurm ? "job.sh" : "job.yaml"), started.script, false));
    remember_script(job, started.script, context.cache);
    if (!options.submits) return Done{};
    std::vector<int> tasks;
    for (int task = 1; task <= job.tasks; ++task) tasks.push_back(task);
    return submit_tasks(world, started.begun.record, job, tasks, options.quiet);
  };
  const auto done = start();
  if (done.ok()) return started;
  if (started.begun.job.ids.empty()) INFERMETER_TRY_DONE(forget_job(store, started.begun.job));
  return done.error();
}

Result<Done> submit_missing(Surroundings& world, Store& store, RunRecord& record, ClusterJob& job,
                            const SubmitOptions& options) {
  if (const auto replace = replace_command(job)) {
    return usage_error(
        fmt::format("run {} was begun for Kubernetes: leave --on slurm out, and --resume takes in what is "
                    "there; `{}` measures what is missing",
                    record.id, *replace));
  }
  INFERMETER_TRY_DONE(check_slurm());
  INFERMETER_TRY(const auto queue, tasks_in_queue(job, world.interrupt));
  std::set<int> running;
  for (const auto& [task, state] : queue) running.insert(task);
  const std::string output_dir = record.plan.output_dir, place = record.plan.store;
  INFERMETER_TRY(const Collected collected, collect(store, record, job, running));
  record.plan.output_dir = output_dir;
  record.plan.store = place;
  std::vector<int> again;
  for (const int task : collected.missing)
    if (!running.contains(task)) again.push_back(task);
  if (again.empty()) return Done{};
  INFERMETER_TRY_DONE(check_script(job, again, options.allow_code));
  return submit_tasks(world, record, job, again, options.quiet);
}

Result<int> run_on_cluster(Surroundings& world, MeasureRequest request, const ClusterRequest& cluster,
                           const ClusterFlags& flags, const ReportOutput& output) {
  INFERMETER_TRY_DONE(check_request(cluster, request.plan));
  const bool submits = flags.job_file().empty();
  if (submits && !request.dry_run) INFERMETER_TRY_DONE(check_slurm());
  if (!request.winner_file.empty() && !flags.waits())
    return usage_error("--write-plan needs the end of the race: give --wait as well");
  INFERMETER_TRY(const Launcher launcher, find_launcher(request.plan.backend_path));
  RunCheck check;
  if (request.models) {
    check.models = std::move(*request.models);
    check_results_folder(request.plan.output_dir, check.problems);
  } else if (is_of_other_devices(request.plan)) {
    check_results_folder(request.plan.output_dir, check.problems);
  } else {
    check = check_before_run(world, request.plan, launcher);
  }
  check_files(request, output, check.problems);
  if (!submits) check.problems.take(check_new_file(flags.job_file(), output.force));
  INFERMETER_TRY_DONE(check.problems.result());
  if (request.dry_run) return show_plan(world, request);
  INFERMETER_TRY(auto store, Store::open(request.plan, Store::Mode::write, world.interrupt));
  const RunContext context{.launcher = launcher,
                           .cache = default_cache(),
                           .interrupt = world.interrupt,
                           .command = shell_quoted(world.arguments),
                           .models = std::move(check.models),
                           .is_checked = true,
                           .keeps_refusals = request.keeps_refusals};
  const bool quiet = request.verbosity == Verbosity::quiet;
  INFERMETER_TRY(StartedJob started,
                 start_job(world, store, request.plan, cluster, context, {.submits = submits, .quiet = quiet}));
  BegunJob& begun = started.begun;
  if (!submits) {
    if (const auto written = write_file(flags.job_file(), started.script, output.force); !written.ok()) {
      INFERMETER_TRY_DONE(forget_job(store, begun.job));
      return written.error();
    }
  }
  LogFollower logs(begun.job, quiet, false);
  if (flags.waits()) return take_in(world, store, std::move(begun.record), begun.job, request, flags, output, logs);
  world.err << fmt::format("run {} is begun{}: `{}` takes in what the tasks have measured\n", begun.record.id,
                           submits ? std::string() : fmt::format("; submit {}", printable(flags.job_file(), 500)),
                           resume_command(begun.record));
  return 0;
}

Result<std::optional<ClusterJob>> job_of_run(const Surroundings& world, const std::string& run, const Plan& place) {
  INFERMETER_TRY(auto store, Store::open(place, Store::Mode::read, world.interrupt));
  INFERMETER_TRY(const std::string id, store.id_of_run(run));
  return find_job(place.output_dir, id);
}

Error not_of_a_cluster(const std::string& run) {
  return usage_error(fmt::format("run {} was not begun on a cluster: leave --on and --wait out", printable(run, 100)));
}

Result<int> resume_on_cluster(Surroundings& world, const MeasureRequest& request, ClusterJob job,
                              const std::optional<ClusterRequest>& cluster, const ClusterFlags& flags,
                              const ReportOutput& output) {
  Problems problems;
  check_files(request, output, problems);
  INFERMETER_TRY_DONE(problems.result());
  INFERMETER_TRY(auto store, Store::open(request.plan, Store::Mode::write, world.interrupt));
  INFERMETER_TRY(const RunLock lock, store.lock_run(job.run));
  INFERMETER_TRY(job, job_now(std::move(job), request.plan));
  INFERMETER_TRY(RunRecord record, store.load_run(job.run));
  if (record.finished)
    return usage_error(fmt::format("run {} is finished (`infermeter report {}` shows it)", record.id, record.id));
  if (!request.plan.subjects.empty() && !is_run_of(record, request.plan))
    return usage_error(fmt::format(
        "run {} cannot be resumed: its plan is not the one asked for; start a new run, without --resume", record.id));
  record.plan.output_dir = request.plan.output_dir;
  record.plan.store = request.plan.store;
  LogFollower logs(job, request.verbosity == Verbosity::quiet, true);
  if (cluster) {
    if (cluster->cluster != Cluster::slurm || !flags.job_file().empty())
      return usage_error(fmt::format("the job of run {} is written already ({}): submit that again", record.id,
                                     printable(job.folder.string(), 500)));
    INFERMETER_TRY_DONE(
        submit_missing(world, store, record, job,
                       {.quiet = request.verbosity == Verbosity::quiet, .allow_code = request.plan.allow_code}));
  }
  return take_in(world, store, std::move(record), job, request, flags, output, logs);
}

Result<int> measure_shard(Surroundings& world, Plan plan, const std::string& run, const Shard& shard,
                          Verbosity verbosity) {
  INFERMETER_TRY(const Launcher launcher, find_launcher(plan.backend_path));
  INFERMETER_TRY(const MeasuredPlan measured, measure_plan(world, std::move(plan), launcher, verbosity,
                                                           {.resume = run, .keeps_refusals = true, .shard = shard}));
  const int signal = world.signal == nullptr ? 0 : world.signal->load();
  if (signal != 0) return 128 + signal;
  if (verbosity != Verbosity::quiet)
    world.err << fmt::format("task {} of {} has measured its blocks on {}\n", shard.number, shard.count,
                             printable(shard.node, 100));
  return 0;
}

}  // namespace infermeter
