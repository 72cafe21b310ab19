// A question to a worker that measures nothing: one job, one frame of BackendInfo back.
#pragma once

#include <atomic>
#include <cstdint>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/wire/wire.hpp"

namespace infermeter {

struct AnswerLimits {
  double timeout_s = 0;
  std::uint64_t memory_limit_bytes = 0;         // as in Limits
  const std::atomic<int>* interrupt = nullptr;  // as in RunContext
};

// An Error where the worker could not begin, crashed, was interrupted, passed a limit or said nothing within
// `timeout_s`; what it says itself, refusals included, is in the answer (`error`).
[[nodiscard]] Result<BackendInfo> ask_worker(const Launcher& launcher, const WorkerJob& job,
                                             const AnswerLimits& limits);

}  // namespace infermeter
