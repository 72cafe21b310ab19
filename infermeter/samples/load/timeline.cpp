#include "infermeter/samples/load/timeline.hpp"

#include <algorithm>

namespace infermeter {
namespace {

void add_bin(TimelineBin& to, const TimelineBin& from) {
  to.arrived += from.arrived;
  to.completed += from.completed;
  to.failed += from.failed;
  to.slowest_ticks = std::max(to.slowest_ticks, from.slowest_ticks);
}

}  // namespace

void Timeline::merge(const Timeline& other) {
  while (width_ < other.width_) halve();
  for (std::size_t i = 0; i < other.bins_.size(); ++i) add_bin(bin(i * other.width_), other.bins_[i]);
}

// It may have been the last thing that is known to happen.
void Timeline::take_back(std::uint64_t at) {
  --bin(at).arrived;
  const auto is_empty = [](const TimelineBin& bin) { return bin.arrived + bin.completed + bin.failed == 0; };
  while (!bins_.empty() && is_empty(bins_.back())) bins_.pop_back();
}

void Timeline::halve() {
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const TimelineBin one = bins_[i];
    if (i % 2 == 0) {
      bins_[i / 2] = one;
    } else {
      add_bin(bins_[i / 2], one);
    }
  }
  bins_.resize((bins_.size() + 1) / 2);
  width_ *= 2;
}

}  // namespace infermeter
