// The runs of a study on a cluster: all of them are begun at once, and then taken in one after the other.
#pragma once

#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/cluster_run.hpp"
#include "cli/fresh_runs.hpp"

namespace infermeter {

class ClusterSeries {
 public:
  // `store` is where the runs are kept, as each plan says; nullopt: nothing is submitted.
  ClusterSeries(Surroundings& world, Store& store, const ClusterFlags& flags,
                const std::optional<ClusterRequest>& cluster, Verbosity verbosity)
      : world_(world), store_(store), flags_(flags), cluster_(cluster), verbosity_(verbosity) {}

  // `wanted` runs of the plan: those of `earlier`, with their missing tasks submitted again, and new ones. An error
  // where new ones are wanted and there is no cluster to begin them on.
  [[nodiscard]] Result<Done> begin(RunSeries& earlier, const Plan& plan, const Launcher& launcher, int wanted);
  // What --write-job writes: the job, or what submits all of them.
  [[nodiscard]] std::string script() const;
  [[nodiscard]] std::size_t size() const { return runs_.size(); }

  // The runs of the n-th plan that was begun, newest first, as finished ones; less if one is interrupted: then the
  // tasks of all are cancelled. nullopt: some are still at work, and nobody waits for them.
  [[nodiscard]] Result<std::optional<std::vector<RunRecord>>> take(std::size_t plan);
  [[nodiscard]] const Problems& unwritten() const { return unwritten_; }

 private:
  struct Run {
    std::size_t plan = 0;
    RunRecord record;
    std::optional<ClusterJob> job{};  // nullopt: finished before
    std::optional<RunLock> lock{};
    std::string script{};
  };
  [[nodiscard]] Result<Run> go_on(RunRecord record, const Plan& plan);
  [[nodiscard]] Result<Run> begin_one(const Plan& plan, const Launcher& launcher);
  [[nodiscard]] Result<Done> cancel_from(const Run& run);

  Surroundings& world_;
  Store& store_;
  const ClusterFlags& flags_;
  const std::optional<ClusterRequest>& cluster_;
  Verbosity verbosity_;
  std::size_t plans_ = 0;
  std::string first_;
  std::list<Run> runs_;
  Problems unwritten_;
};

}  // namespace infermeter
