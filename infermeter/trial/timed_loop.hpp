// The measured region. Between the two clock readings stands the subject and nothing else: no allocation, no lock, no
// log; what is stored afterwards goes to memory that was touched before.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "infermeter/trial/sample_block.hpp"

namespace infermeter {

enum class LoopEnd { complete, interrupted, failed };

struct LoopLimits {
  std::uint64_t iterations = 0;             // at most; never more than there is room for
  std::uint64_t expected = 0;               // room for so many is touched before the loop
  std::uint64_t budget_ticks = UINT64_MAX;  // the sum of the timed inferences reaches it: enough
};

// `Step` has `bool prepare(std::uint64_t iteration)`, called outside of the measured region, and `bool run()`; false
// ends the loop as failed. The iteration that failed is not stored.
template <class Clock, class Step>
[[nodiscard]] LoopEnd timed_loop(const Clock& clock, Step& step, const LoopLimits& limits, std::span<TickPair> pairs,
                                 std::atomic<std::uint64_t>& done, const std::atomic<std::uint32_t>& interrupt) {
  const std::uint64_t iterations = limits.iterations < pairs.size() ? limits.iterations : pairs.size();
  std::uint64_t spent = 0;
  for (std::uint64_t i = 0; i < iterations && spent < limits.budget_ticks; ++i) {
    if (interrupt.load(std::memory_order_relaxed) != 0) return LoopEnd::interrupted;
    if (!step.prepare(i)) return LoopEnd::failed;

    const std::uint64_t begin = clock.now();
    const bool good = step.run();
    const std::uint64_t end = clock.now();

    if (!good) return LoopEnd::failed;
    pairs[i] = {begin, end};
    done.store(i + 1, std::memory_order_release);
    spent += end - begin;
  }
  return LoopEnd::complete;
}

// Iterations [from, to) that nobody looks at: what warm-up has beyond the room for it.
template <class Step>
[[nodiscard]] LoopEnd untimed_loop(Step& step, std::uint64_t from, std::uint64_t to, std::atomic<std::uint64_t>& done,
                                   const std::atomic<std::uint32_t>& interrupt) {
  for (std::uint64_t i = from; i < to; ++i) {
    if (interrupt.load(std::memory_order_relaxed) != 0) return LoopEnd::interrupted;
    if (!step.prepare(i) || !step.run()) return LoopEnd::failed;
    done.store(i + 1, std::memory_order_release);
  }
  return LoopEnd::complete;
}

// A duration ends when its time is spent; how many iterations that will be is guessed only to touch their memory. It is
// divided by a quarter of the fastest warm-up inference, as the timed ones may be faster still; without warm-up by a
// hundredth of the first, which is a cold one. Beyond the guess a page fault of ours can lie between two inferences.
[[nodiscard]] LoopLimits limits_for(const Stopping& stopping, const SampleBlock& block, const TickScale& scale,
                                    std::uint64_t first_inference_ticks);

}  // namespace infermeter
