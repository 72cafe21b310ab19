// Cluster flags: where a run is measured, if not here.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/fleet/cluster_request.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/run/shard.hpp"

namespace infermeter {

class ClusterFlags {
 public:
  void declare(CLI::App& app);
  // Of verbs that resume: --shard, which tasks are given.
  void declare_shard(CLI::App& app);

  // nullopt: measured here. An error: flags that mean nothing without others.
  [[nodiscard]] Result<std::optional<ClusterRequest>> request() const;
  // What --shard says, on the node that this is; nullopt: it was not given.
  [[nodiscard]] Result<std::optional<Shard>> shard(const Surroundings& world) const;
  [[nodiscard]] bool any() const { return !on_.empty() || wait_; }
  [[nodiscard]] bool waits() const { return wait_; }
  [[nodiscard]] const std::string& job_file() const { return job_file_; }

 private:
  std::string on_, nodes_, partition_, constraint_, time_, image_, volume_, processors_, memory_, job_file_, shard_;
  std::vector<std::string> sbatch_;
  bool wait_ = false;
};

}  // namespace infermeter
