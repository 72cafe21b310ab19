// Slurm's own commands: sbatch, squeue, scancel.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/fleet/job_folder.hpp"

namespace infermeter {

// An error where Slurm's client is not installed.
[[nodiscard]] Result<Done> check_slurm();

// Submits these tasks of the script's array; the number of the job. An error has Slurm's own words.
[[nodiscard]] Result<std::string> submit(const std::filesystem::path& script, const std::vector<int>& tasks,
                                         const std::atomic<int>* interrupt);

// Tasks of the job that are waiting, running or about to end, and what Slurm says of each: "PENDING", "RUNNING". An
// error: Slurm does not answer.
[[nodiscard]] Result<std::map<int, std::string>> tasks_in_queue(const ClusterJob& job,
                                                                const std::atomic<int>* interrupt);

// Each gets SIGTERM: it finishes the current iteration, and its trials stay.
[[nodiscard]] Result<Done> cancel(const ClusterJob& job, const std::atomic<int>* interrupt);

}  // namespace infermeter
