// The Pareto front of several figures: what is left when all is taken away that something else is better than.
//
// B dominates A if it can be determined that B is worse in no figure, and better in at least one:
//   - of exact figures (a file's size) the values tell;
//   - of figures with intervals B is better if the two do not touch, and no worse if all of B's interval is at least as
//     good as all of A's, or worse by less than pareto_margin of it;
//   - a figure with neither (one process) shows nothing, so that nothing dominates by it or in spite of it.
// What the noise hides keeps a point on the front: it may be better. As differences below the margin add up, points may
// dominate each other in a ring; those of one ring do not take each other away. Hence there is always a front, unless
// no point can be placed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

inline constexpr double pareto_margin = 0.01;

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
