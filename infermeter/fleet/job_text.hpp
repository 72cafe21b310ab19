// What is submitted: a script for Slurm, a manifest for Kubernetes. Made to be read, and to be submitted by hand as
// well.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/fleet/cluster_request.hpp"
#include "infermeter/fleet/job_folder.hpp"

namespace infermeter {

struct JobText {
  const ClusterRequest& request;
  const ClusterJob& job;
  const RunRecord& record;
  std::filesystem::path program;   // infermeter, as nodes see it
  std::filesystem::path folder;    // the current one, which relative paths of the plan begin at
  std::vector<std::string> flags;  // allowing_flags
};

// A batch script with one array of tasks, each alone on a node; a task that is requeued, or started again, goes on.
[[nodiscard]] Result<std::string> slurm_script(const JobText& text);

// A Job (batch/v1) of indexed completions, in YAML: tasks on different nodes, with processors of their own.
[[nodiscard]] Result<std::string> kubernetes_manifest(const JobText& text);

}  // namespace infermeter
