// Change points while they are being found: added, moved to where they fit best, dropped.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "infermeter/stats/changes/change_point.hpp"

namespace infermeter {

class ChangeList {
 public:
  // `logs` outlives it; at least `least` runs between two points.
  ChangeList(std::span<const double> logs, std::size_t least) : logs_(logs), least_(least) {}

  [[nodiscard]] const std::vector<ChangePoint>& points() const { return points_; }
  [[nodiscard]] std::vector<std::size_t> boundaries() const;  // 0, the points, n

  void add(const std::vector<ChangePoint>& points);
  // Each to where least squares divides the two levels around it, the largest step first: a run too many of another
  // level would draw a smaller step to itself.
  void relocate();

  // What surrounds a point: the level before it and the one from it on.
  struct Surroundings {
    std::span<const double> before, from, both;
  };
  [[nodiscard]] Surroundings around(std::size_t point) const;

  // The weakest first, as long as one is below `needed`: without it its neighbours may be stronger.
  void drop_weaker(double needed, const std::function<double(const Surroundings&)>& strength);
  void for_each(const std::function<void(ChangePoint&, const Surroundings&)>& change);

 private:
  std::span<const double> logs_;
  std::size_t least_;
  std::vector<ChangePoint> points_;
};

}  // namespace infermeter
