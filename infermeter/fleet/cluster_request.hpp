// What of a cluster is asked for: pure values, checked before anything is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

enum class Cluster { slurm, kubernetes };
[[nodiscard]] std::string_view to_string(Cluster cluster);
[[nodiscard]] Result<Cluster> cluster_from_string(std::string_view name);

inline constexpr int kDefaultNodes = 4;

struct ClusterRequest {
  Cluster cluster = Cluster::slurm;
  std::optional<int> nodes{};            // tasks, each of which has a node of its own; nullopt: kDefaultNodes
  std::string partition{};               // of Slurm; empty: its default
  std::string constraint{};              // features of Slurm's nodes; of Kubernetes a label, KEY=VALUE
  std::optional<double> time_limit_s{};  // of a task
  std::vector<std::string> options{};    // further ones of sbatch: "--account=lab"
  // Of Kubernetes, which has no way to know them.
  std::string image{}, volume{}, volume_path{};  // the claim that holds everything, and where it is mounted
  int processors = 4;                            // of a task, for it alone
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
};

// What cannot be done on a cluster as it is asked for, and values that no line of a job can hold.
[[nodiscard]] Result<Done> check_request(const ClusterRequest& request, const Plan& plan);

// As many tasks as there are nodes asked for, but no more than blocks; one for a race, whose next trials are chosen by
// those before.
[[nodiscard]] int tasks_of(const ClusterRequest& request, const Plan& plan);

}  // namespace infermeter
