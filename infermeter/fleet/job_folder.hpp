// The folder of a run that is measured on a cluster: OUTPUT_DIR/jobs/RUN, on a file system that all nodes see.
//
//   job.sh or job.yaml   what was submitted
//   ids                  the numbers that Slurm gave it, a line each
//   1 … N                a store for each task, with the run as it was begun and then the task's trials
//   1.log … N.log        what each task said
//
// A task alone writes its store, so that nothing depends on locks between machines; the run's own store is written by
// whoever takes the trials in.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/run/begin.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {

struct ClusterJob {
  std::filesystem::path folder;  // absolute
  std::string run;
  int tasks = 0;
  std::vector<std::string> ids{};  // of Slurm; empty: it was not submitted by us

  [[nodiscard]] std::filesystem::path store_of(int task) const;  // its folder
  [[nodiscard]] std::filesystem::path log_of(int task) const;
};

struct BegunJob {
  ClusterJob job;
  RunRecord record;
  RunLock lock;
};

// Begins a run in `store`, which measures nothing, and makes its folder under plan.output_dir. The models are those
// that this machine sees; nodes refuse any other.
[[nodiscard]] Result<BegunJob> begin_job(Store& store, Plan plan, int tasks, const RunContext& context);
// A job that could not be submitted: nothing of it and its run is left.
[[nodiscard]] Result<Done> forget_job(Store& store, const ClusterJob& job);

// nullopt: the run was not begun on a cluster.
[[nodiscard]] Result<std::optional<ClusterJob>> find_job(const std::filesystem::path& output_dir, std::string_view run);
[[nodiscard]] Result<Done> note_id(ClusterJob& job, std::string id);
// Keeps in `cache` what script this user has made for the job, where that can be written; whether job.sh is that one.
// Folders of results may be anybody's, and what is submitted runs as the user.
void remember_script(const ClusterJob& job, std::string_view script, const std::filesystem::path& cache);
[[nodiscard]] bool has_own_script(const ClusterJob& job, const std::filesystem::path& cache);

struct Collected {
  int blocks = 0, whole = 0;   // that the run has, and how many of them are there; a race is one
  std::vector<int> missing{};  // tasks that have not measured all of theirs
};
// Takes the whole blocks of every task that is not among `running` into `store` and `record`, each once, with what else
// a task found: pilots, outputs, leak and profile trials, its machine. Of a race all trials, in place of those that it
// had before it began anew on another node. May be repeated.
[[nodiscard]] Result<Collected> collect(Store& store, RunRecord& record, const ClusterJob& job,
                                        const std::set<int>& running);

// The flags by which a task may finish the run by the plan that its store has (check_own_plan): what the command line
// that began it allowed. An error: that cannot be said in flags.
[[nodiscard]] Result<std::vector<std::string>> allowing_flags(const RunRecord& record);

}  // namespace infermeter
