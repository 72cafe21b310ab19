// Stamps of CLOCK_MONOTONIC on the clock of a trial.
#pragma once

#include <cstdint>

namespace infermeter {

// Both clocks are read when this is made, soon after the stamps that are asked for: what they differ by from there
// back is too little to be seen.
template <class Clock, class Coarse>
class MonotonicStamps {
 public:
  MonotonicStamps(const Clock& clock, const Coarse& coarse, double tick_ns)
      : now_(clock.now()), now_ns_(static_cast<double>(coarse.now())), tick_ns_(tick_ns) {}

  // Of one that is not over yet: now.
  [[nodiscard]] std::uint64_t ticks(std::int64_t stamp_ns) const {
    const double ago_ticks = (now_ns_ - static_cast<double>(stamp_ns)) / tick_ns_;
    const bool is_before = ago_ticks > 0 && ago_ticks < static_cast<double>(now_);
    return is_before ? now_ - static_cast<std::uint64_t>(ago_ticks + 0.5) : now_;
  }

 private:
  std::uint64_t now_;
  double now_ns_, tick_ns_;
};

}  // namespace infermeter
