#include "infermeter/stats/changes/change_list.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "infermeter/stats/changes/level_scan.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

double step_of(const ChangeList::Surroundings& around) {
  return std::abs(moments_of(around.from).mean - moments_of(around.before).mean);
}

}  // namespace

std::vector<std::size_t> ChangeList::boundaries() const {
  std::vector<std::size_t> boundaries = {0};
  for (const ChangePoint& point : points_) boundaries.push_back(point.index);
  boundaries.push_back(logs_.size());
  return boundaries;
}

void ChangeList::add(const std::vector<ChangePoint>& points) {
  points_.insert(points_.end(), points.begin(), points.end());
  std::ranges::sort(points_, {}, &ChangePoint::index);
}

void ChangeList::relocate() {
  std::vector<double> steps;
  for (std::size_t i = 0; i < points_.size(); ++i) steps.push_back(step_of(around(i)));
  std::vector<std::size_t> largest_first(points_.size());
  std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
  std::ranges::stable_sort(largest_first, std::ranges::greater{}, [&](std::size_t i) { return steps[i]; });
  for (const std::size_t i : largest_first) {
    const Surroundings both_levels = around(i);
    const std::size_t begin = points_[i].index - both_levels.before.size();
    points_[i].index = begin + best_level_split(both_levels.both, least_).index;
  }
}

ChangeList::Surroundings ChangeList::around(std::size_t point) const {
  const std::size_t begin = point == 0 ? 0 : points_[point - 1].index;
  const std::size_t end = point + 1 == points_.size() ? logs_.size() : points_[point + 1].index;
  const auto both = logs_.subspan(begin, end - begin);
  const std::size_t before = points_[point].index - begin;
  return {both.first(before), both.subspan(before), both};
}

void ChangeList::drop_weaker(double needed, const std::function<double(const Surroundings&)>& strength) {
  while (!points_.empty()) {
    std::vector<double> strengths;
    for (std::size_t i = 0; i < points_.size(); ++i) strengths.push_back(strength(around(i)));
    const auto weakest = std::ranges::min_element(strengths);
    if (*weakest >= needed) return;
    points_.erase(points_.begin() + (weakest - strengths.begin()));
    relocate();
  }
}

void ChangeList::for_each(const std::function<void(ChangePoint&, const Surroundings&)>& change) {
  for (std::size_t i = 0; i < points_.size(); ++i) change(points_[i], around(i));
}

}  // namespace infermeter
