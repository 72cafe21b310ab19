#include "infermeter/worker/profile/memory_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace infermeter {
namespace {

bool is_alike(const MemoryPoint& a, const MemoryPoint& b) { return a.phase == b.phase && a.rss_bytes == b.rss_bytes; }

}  // namespace

void MemoryTimeline::add(MemoryPoint point) {
  if (point.rss_bytes == 0 || !std::isfinite(point.at_s)) return;
  if (!points_.empty()) point.phase = std::max(point.phase, points_.back().phase);
  place(point);
  // Every phase has a point at least, however long the stretches are.
  const std::size_t room = std::max<std::size_t>(most_, 2 * (static_cast<std::size_t>(Phase::done) + 1));
  if (points_.size() <= room) return;
  while (points_.size() > room / 2 + static_cast<std::size_t>(Phase::done)) {
    stretch_s_ *= 2;
    for (const MemoryPoint& each : std::exchange(points_, {})) place(each);
  }
}

void MemoryTimeline::place(const MemoryPoint& point) {
  const auto stretch_of = [this](const MemoryPoint& one) { return std::floor(one.at_s / stretch_s_); };
  if (points_.empty() || points_.back().phase != point.phase || stretch_of(points_.back()) != stretch_of(point))
    points_.push_back(point);
  else if (point.rss_bytes > points_.back().rss_bytes)
    points_.back() = point;
}

std::vector<MemoryPoint> MemoryTimeline::points() const {
  std::vector<MemoryPoint> reported;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const bool is_inner = i > 0 && i + 1 < points_.size();
    if (is_inner && is_alike(points_[i - 1], points_[i]) && is_alike(points_[i], points_[i + 1])) continue;
    reported.push_back(points_[i]);
  }
  return reported;
}

}  // namespace infermeter
