// A question to a worker that measures nothing: one job, one frame of BackendInfo back.
#pragma once

#include <atomic>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/wire/wire.hpp"

namespace infermeter {

// An Error where the worker could not begin, crashed, was interrupted or said nothing within `timeout_s`; what it says
// itself, refusals included, is in the answer (`error`).
[[nodiscard]] Result<BackendInfo> ask_worker(const Launcher& launcher, const WorkerJob& job, double timeout_s,
                                             const std::atomic<int>* interrupt = nullptr);

}  // namespace infermeter
