// LoadWatch: what a load does at the moment, from what its worker has written into shared memory so far.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "infermeter/samples/load/load_now.hpp"
#include "infermeter/trial/sample_block.hpp"

namespace infermeter {

struct RequestCounts {
  std::uint64_t issued = 0, completed = 0, failed = 0;
};

class LoadWatch {
 public:
  // nullopt: not under load. Nothing of the block is believed: its worker may have overwritten it.
  [[nodiscard]] std::optional<LoadNow> look(const SampleBlock& block, const ClockPair& now);
  // `now_s`, and the times of `done`: by `scale`. `done`: in the order in which they ended, about.
  [[nodiscard]] LoadNow look(double now_s, const RequestCounts& counts, std::span<const TickPair> done,
                             const TickScale& scale);

 private:
  struct Point {
    double at_s = 0;
    std::uint64_t completed = 0;
  };
  std::deque<Point> points_;
};

}  // namespace infermeter
