#include "infermeter/diagnostics/interrupt.hpp"

namespace infermeter {
namespace {

std::atomic<int> heard{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

}  // namespace

int look_at_interrupts(const std::atomic<int>* interrupt) {
  const int came = interrupt == nullptr ? 0 : interrupt->load(std::memory_order_relaxed);
  if (came > heard.load(std::memory_order_relaxed)) heard.store(came, std::memory_order_relaxed);
  return came;
}

int interrupts_heard() { return heard.load(std::memory_order_relaxed); }

}  // namespace infermeter
