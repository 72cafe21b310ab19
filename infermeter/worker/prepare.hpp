// A back end leaves in its folder of the cache what is costly to make and the same for every process of this machine
// (plans of transforms), before anything is timed.
#pragma once

#include <atomic>
#include <filesystem>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// The folder, below `cache`, that is the back end's alone.
[[nodiscard]] std::filesystem::path backend_cache(const std::filesystem::path& cache, const std::string& backend);

// Loads what `job` is about in a worker that may write to `job.cache_folder`, which is made, and does nothing else. An
// error is what the worker says; a trial of the same job would say it, too. `interrupt` as in RunContext.
[[nodiscard]] Result<Done> prepare_backend(const Launcher& launcher, const TrialJob& job,
                                           const std::atomic<int>* interrupt = nullptr);

}  // namespace infermeter
