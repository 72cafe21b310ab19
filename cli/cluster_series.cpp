#include "cli/cluster_series.hpp"

#include <fmt/format.h>

#include <utility>

#include "infermeter/fleet/slurm.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/shell_quote.hpp"

namespace infermeter {

Result<ClusterSeries::Run> ClusterSeries::go_on(RunRecord record, const Plan& plan) {
  Run run{.record = std::move(record)};
  run.record.plan.output_dir = plan.output_dir;
  run.record.plan.store = plan.store;
  if (run.record.finished) return run;
  INFERMETER_TRY(run.lock, store_.lock_run(run.record.id));
  INFERMETER_TRY(run.job, find_job(plan.output_dir, run.record.id));  // with what others have submitted until now
  if (!run.job) return not_of_a_cluster(run.record.id);
  if (cluster_)
    INFERMETER_TRY_DONE(submit_missing(world_, store_, run.record, *run.job,
                                       {.quiet = verbosity_ == Verbosity::quiet, .allow_code = plan.allow_code}));
  return run;
}

Result<ClusterSeries::Run> ClusterSeries::begin_one(const Plan& plan, const Launcher& launcher) {
  if (flags_.job_file().empty()) INFERMETER_TRY_DONE(check_slurm());
  const RunContext context{.launcher = launcher,
                           .cache = default_cache(),
                           .interrupt = world_.interrupt,
                           .command = shell_quoted(world_.arguments),
                           .part_of = first_};
  INFERMETER_TRY(StartedJob started,
                 start_job(world_, store_, plan, *cluster_, context,
                           {.submits = flags_.job_file().empty(), .quiet = verbosity_ == Verbosity::quiet}));
  return Run{.record = std::move(started.begun.record),
             .job = std::move(started.begun.job),
             .lock = std::move(started.begun.lock),
             .script = std::move(started.script)};
}

Result<Done> ClusterSeries::begin(RunSeries& earlier, const Plan& plan, const Launcher& launcher, int wanted) {
  if (first_.empty()) first_ = earlier.first();
  for (int i = 0; i < wanted; ++i) {
    std::optional<RunRecord> record = earlier.take(plan);
    if (!record && !cluster_)
      return usage_error("not all runs of the study have begun: give --on slurm, and the others are submitted as well");
    auto run = record ? go_on(std::move(*record), plan) : begin_one(plan, launcher);
    if (!run.ok()) return run.error();
    run->plan = plans_;
    if (first_.empty()) first_ = run->record.id;
    runs_.push_back(std::move(*run));
  }
  ++plans_;
  return Done{};
}

std::string ClusterSeries::script() const {
  if (runs_.size() == 1) return runs_.front().script;
  std::string text;
  if (cluster_->cluster == Cluster::slurm) {
    text = fmt::format("#!/bin/sh\n# {} of infermeter, each with its own job.\n", counted(runs_.size(), "run"));
    for (const Run& run : runs_)
      text += fmt::format("sbatch {}\n", shell_quoted((run.job->folder / "job.sh").string()));
  } else {
    for (const Run& run : runs_) text += (text.empty() ? "" : "---\n") + run.script;
  }
  return text;
}

Result<Done> ClusterSeries::cancel_from(const Run& run) {
  bool is_behind = false;
  for (const Run& one : runs_) {
    is_behind = is_behind || &one == &run;
    if (is_behind && one.job && !one.job->ids.empty()) INFERMETER_TRY_DONE(cancel(*one.job, world_.interrupt));
  }
  return Done{};
}

Result<std::optional<std::vector<RunRecord>>> ClusterSeries::take(std::size_t plan) {
  std::vector<RunRecord> records;
  bool all = true;
  for (Run& run : runs_) {
    if (run.plan != plan) continue;
    if (run.job) {
      LogFollower logs(*run.job, verbosity_ == Verbosity::quiet, false);
      INFERMETER_TRY(TakenIn taken, take_trials(world_, store_, run.record, *run.job, flags_.waits(), logs));
      if (!taken.complete() && !taken.interrupted) {
        say_still_running(world_, taken);
        all = false;
        continue;
      }
      if (taken.interrupted) INFERMETER_TRY_DONE(cancel_from(run));
      INFERMETER_TRY(MeasuredPlan measured, end_run(store_, std::move(taken.record), taken.complete()));
      unwritten_.add_all(measured.unwritten);
      say_where(world_, measured, verbosity_);
      run.record = std::move(measured.record);
    }
    records.insert(records.begin(), run.record);
    if (!run.record.finished) break;
  }
  if (!all) return std::optional<std::vector<RunRecord>>();
  return std::optional(std::move(records));
}

}  // namespace infermeter
