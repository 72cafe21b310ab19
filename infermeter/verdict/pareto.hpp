// The Pareto front of several figures: what is left when all is taken away that something else is better than.
//
// B dominates A if B is worse in no figure and better in at least one. Better and worse is what can be told:
//   - an exact figure (a file's size) is better if its value is;
//   - a figure with an interval is better if the two intervals do not touch;
//   - a figure with neither (one process) tells nothing.
// So equal figures, and those that the noise hides, do not keep a point on the front. As "cannot be told apart" is not
// transitive, points may dominate each other in a ring; those of one ring do not take each other away. Hence there is
// always a front, unless no point can be placed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/summary.hpp"

namespace infermeter {

struct ParetoValue {
  double value = 0;
  std::optional<Interval> interval{};
  bool exact = false;
};

enum class ParetoPlace {
  front,
  dominated,
  not_placed,  // lacks a figure that another point has: nobody knows
};

struct ParetoVerdict {
  ParetoPlace place = ParetoPlace::not_placed;
  std::vector<std::size_t> dominated_by{};  // indices of the points that do, ascending
};

// `points[i]` has a value per figure, as many as `lower_is_better`. A figure that no point has does not count. The
// result is in the order of the points.
[[nodiscard]] std::vector<ParetoVerdict> pareto_front(std::span<const bool> lower_is_better,
                                                      std::span<const std::vector<std::optional<ParetoValue>>> points);

}  // namespace infermeter
