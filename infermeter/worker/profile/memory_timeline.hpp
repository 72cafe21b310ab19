// MemoryTimeline: what a worker had in memory while it lived, in no more points than are kept of a trial.
#pragma once

#include <cstddef>
#include <vector>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Of each stretch of time the highest reading of each phase is kept, where it was. Stretches begin shorter than the
// time between two readings, and double as often as the trial's length asks for, so that a long trial keeps its shape.
class MemoryTimeline {
 public:
  explicit MemoryTimeline(std::size_t most = kMostMemoryPoints) : most_(most) {}

  // In order of time. No bytes: the worker is gone, that is no reading. Phases only go on: a worker that writes an
  // earlier one is not believed.
  void add(MemoryPoint point);
  // Of points that are equal those in between say nothing and are left out.
  [[nodiscard]] std::vector<MemoryPoint> points() const;

 private:
  void place(const MemoryPoint& point);

  std::size_t most_;
  double stretch_s_ = 0.01;
  std::vector<MemoryPoint> points_;
};

}  // namespace infermeter
