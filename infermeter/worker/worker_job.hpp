// What a worker is told to do for a trial.
#pragma once

#include <filesystem>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/wire/wire.hpp"

namespace infermeter {

// With the plug-in found, the library chosen, and every path absolute: the worker's current folder is another one.
[[nodiscard]] Result<WorkerJob> worker_job(const Launcher& launcher, const TrialJob& job);

}  // namespace infermeter
