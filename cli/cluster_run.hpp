// A run on a cluster from the command line: begun here, measured on nodes, taken in and reported here.
#pragma once

#include <set>
#include <string>

#include "cli/flags/cluster_flags.hpp"
#include "cli/measure_and_report.hpp"
#include "cli/output/follow_logs.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/fleet/job_folder.hpp"

namespace infermeter {

// Plans of a cluster have as many blocks as is said before they begin.
[[nodiscard]] Result<Done> use_fixed_blocks(PlanDraft& draft);

// What is between the beginning and the end of a run on a cluster, for verbs that have several.
struct StartOptions {
  bool submits = true, quiet = false;
};
struct StartedJob {
  BegunJob begun;
  std::string script;  // which is in the job's folder, too
};
// Begins the run and submits all its tasks. If that fails, nothing is left of it.
[[nodiscard]] Result<StartedJob> start_job(Surroundings& world, Store& store, const Plan& plan,
                                           const ClusterRequest& cluster, const RunContext& context,
                                           const StartOptions& options);
struct SubmitOptions {
  bool quiet = false;
  bool allow_code = false;  // job.sh may be somebody else's
};
// Takes in what is there, and submits tasks that have something left to do and are not in the queue.
[[nodiscard]] Result<Done> submit_missing(Surroundings& world, Store& store, RunRecord& record, ClusterJob& job,
                                          const SubmitOptions& options);

struct TakenIn {
  RunRecord record;
  Collected collected;
  bool interrupted = false;
  std::set<int> running{};  // tasks that have not ended

  [[nodiscard]] bool complete() const { return collected.missing.empty(); }
};
// Waits if that is asked for, until all tasks have ended or, after a signal, are cancelled; then takes everything in.
// record.plan says where the run is kept. An error where no task is left and something is missing.
[[nodiscard]] Result<TakenIn> take_trials(Surroundings& world, Store& store, RunRecord record, const ClusterJob& job,
                                          bool waits, LogFollower& logs);
void say_still_running(Surroundings& world, const TakenIn& taken);
// The run's CSV; a complete one counts as finished.
[[nodiscard]] Result<MeasuredPlan> end_run(Store& store, RunRecord record, bool complete);

// The exit code: of the report with --wait, else 0 when the job is submitted or written.
[[nodiscard]] Result<int> run_on_cluster(Surroundings& world, MeasureRequest request, const ClusterRequest& cluster,
                                         const ClusterFlags& flags, const ReportOutput& output);

// Where a run is measured: nullopt: on this machine. `run` as for Store::load_run, in the plan's store.
[[nodiscard]] Result<std::optional<ClusterJob>> job_of_run(const Surroundings& world, const std::string& run,
                                                           const Plan& place);
[[nodiscard]] Error not_of_a_cluster(const std::string& run);

// Takes in what the tasks have measured. request.plan may have no subjects: the run's own. With `cluster` tasks that
// ended early are submitted again.
[[nodiscard]] Result<int> resume_on_cluster(Surroundings& world, const MeasureRequest& request, ClusterJob job,
                                            const std::optional<ClusterRequest>& cluster, const ClusterFlags& flags,
                                            const ReportOutput& output);

// What a task does: the blocks of its shard, into the task's own store.
[[nodiscard]] Result<int> measure_shard(Surroundings& world, Plan plan, const std::string& run, const Shard& shard,
                                        Verbosity verbosity);

}  // namespace infermeter
