// Interruptions (SIGINT, SIGTERM): a number that grows with each, at which everything looks that takes long and can end
// well. Whoever owns the signals learns whether anything did look.
#pragma once

#include <atomic>

namespace infermeter {

// How many have come; 0 where `interrupt` is nullptr. They count as heard.
[[nodiscard]] int look_at_interrupts(const std::atomic<int>* interrupt);

// The highest number that look_at_interrupts has seen. May be called by a signal handler.
[[nodiscard]] int interrupts_heard();

}  // namespace infermeter
