// Timeline: what happened when during a load, in at most kTimelineBins bins of equal width; when they are full, two
// neighbours become one. Timelines of several threads add up exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace infermeter {

inline constexpr std::size_t kTimelineBins = 256;

struct TimelineBin {
  std::uint64_t arrived = 0, completed = 0, failed = 0;
  std::uint64_t slowest_ticks = 0;  // the longest response time of what completed here
};

class Timeline {
 public:
  // `width_ticks` of a bin in the beginning, at least 1.
  explicit Timeline(std::uint64_t width_ticks) : width_(width_ticks) { bins_.reserve(kTimelineBins); }

  // `at` counts from the load's beginning. No allocation.
  void arrived(std::uint64_t at) { ++bin(at).arrived; }
  // Of what had been counted, and did not come.
  void take_back(std::uint64_t at);
  void failed(std::uint64_t at) { ++bin(at).failed; }
  void completed(std::uint64_t at, std::uint64_t response_ticks) {
    TimelineBin& here = bin(at);
    ++here.completed;
    if (response_ticks > here.slowest_ticks) here.slowest_ticks = response_ticks;
  }
  // Both began with the same width.
  void merge(const Timeline& other);

  [[nodiscard]] std::uint64_t width() const { return width_; }
  [[nodiscard]] const std::vector<TimelineBin>& bins() const { return bins_; }

 private:
  [[nodiscard]] TimelineBin& bin(std::uint64_t at) {
    while (at / width_ >= kTimelineBins) halve();
    const auto index = static_cast<std::size_t>(at / width_);
    if (index >= bins_.size()) bins_.resize(index + 1);
    return bins_[index];
  }
  void halve();

  std::uint64_t width_;
  std::vector<TimelineBin> bins_;
};

}  // namespace infermeter
