// A run on a cluster from the command line: begun here, measured on nodes, taken in and reported here.
#pragma once

#include <string>

#include "cli/flags/cluster_flags.hpp"
#include "cli/measure_and_report.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/fleet/job_folder.hpp"

namespace infermeter {

// Plans of a cluster have as many blocks as is said before they begin.
[[nodiscard]] Result<Done> use_fixed_blocks(PlanDraft& draft);

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
