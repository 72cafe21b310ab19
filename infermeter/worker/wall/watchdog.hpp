// Watchdog: listens to a worker until it ends, and ends it when a limit is passed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "infermeter/trial/sample_block.hpp"
#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/wall/stalls.hpp"
#include "infermeter/worker/worker_process.hpp"

namespace infermeter {

enum class KillReason { none, load_timeout, run_timeout, memory, interrupt, refused };

struct WatchRules {
  double load_timeout_s = 0;
  double run_timeout_s = 0;
  std::uint64_t memory_limit_bytes = 0;
  const SampleBlock* block = nullptr;                     // nullptr: there is no trial, only the load limit holds
  int block_descriptor = -1;                              // of the memory that the block is in
  const std::atomic<int>* interrupt = nullptr;            // may be nullptr
  std::function<void(const TrialProgress&)> on_progress;  // may be empty
  std::function<void()> on_wake{};  // each time, before what came is looked at; may be empty; must not wait
  // What came. An error ends the worker.
  std::function<Result<Done>(Frame&)> on_frame;
};

struct WatchEnd {
  WorkerEnd worker;
  KillReason reason = KillReason::none;
  bool finished = false;            // its last message came
  std::uint64_t memory_bytes = 0;   // the highest that was seen, where there is a limit
  std::vector<MemoryPoint> memory;  // of a trial: what was resident, from the block's origin on
  std::vector<Stall> stalls;        // of a trial
  std::optional<Error> refused;     // reason == refused
};

// Wakes every 20 ms until warm-up, every 50 ms from there on, for some 0.15 ms each with what it shows the caller: 0.3
// % of a processor, 0.7 % where the worker has started processes (measured on a busy machine of 2 processors).
[[nodiscard]] WatchEnd watch(WorkerProcess& worker, const WatchRules& rules);

}  // namespace infermeter
