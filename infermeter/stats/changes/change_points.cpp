#include "infermeter/stats/changes/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/changes/change_list.hpp"
#include "infermeter/stats/changes/e_divisive.hpp"
#include "infermeter/stats/changes/level_scan.hpp"
#include "infermeter/stats/changes/scan_critical_values.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter {
namespace {

using Surroundings = ChangeList::Surroundings;

// √((1 + φ)/(1 − φ)) at φ = 0.5: levels so far apart are not feigned by an autocorrelation up to that.
constexpr double kFar = std::numbers::sqrt3;

// Runs on either side of a point that a second opinion on it looks at, which bounds the work for a long history.
constexpr std::size_t kNear = 30;

DivisiveOptions divisive_options(const ChangeOptions& options, double phi, std::size_t n) {
  return {.alpha = options.alpha,
          .least = options.least,
          .permutations = options.permutations,
          .block = block_length(phi, n),
          .seed = options.seed};
}

std::vector<ChangePoint> by_e_divisive(const std::vector<Division>& divisions) {
  std::vector<ChangePoint> points;
  for (const Division& division : divisions) {
    points.push_back({.index = division.index, .p = division.p, .by_e_divisive = true});
  }
  return points;
}

std::vector<ChangePoint> by_scan(const std::vector<std::size_t>& indices, std::size_t origin) {
  std::vector<ChangePoint> points;
  for (const std::size_t index : indices) points.push_back({.index = origin + index, .by_scan = true});
  return points;
}

double autocorrelation_between(std::span<const double> logs, const ChangeList& changes) {
  const std::vector<std::size_t> boundaries = changes.boundaries();
  return autocorrelation_around(logs, boundaries, static_cast<double>(boundaries.size() - 1));
}

// The levels that are far apart. They come first because what is left undivided passes for autocorrelation, which would
// correct every |t| away and ask for blocks as long as the levels. The scan sees steps; bumps are seen by a quick
// E-divisive that takes runs for independent, and lets through too many, of which those stay that are far apart.
ChangeList far_changes(std::span<const double> logs, const ChangeOptions& options) {
  ChangeList changes(logs, options.least);
  const auto t_over_critical = [&](const Surroundings& around) {
    return best_level_split(around.both, options.least).t / scan_critical_value(around.both.size(), options.alpha);
  };
  changes.add(by_scan(scan_far_levels(logs, options.least, options.alpha, kFar), 0));
  changes.add(by_e_divisive(
      e_divisive(logs, changes.boundaries(),
                 {.alpha = 0.05, .least = options.least, .permutations = 19, .block = 1, .seed = options.seed})));
  changes.relocate();
  changes.drop_weaker(kFar, t_over_critical);
  const double phi = autocorrelation_between(logs, changes);
  changes.drop_weaker(1, [&](const Surroundings& around) { return corrected_t(t_over_critical(around), phi); });
  changes.for_each([](ChangePoint& point, const Surroundings&) {
    point.by_scan = true;
    point.by_e_divisive = false;
    point.p = 1;
  });
  return changes;
}

void add_scanned(std::span<const double> logs, ChangeList& changes, const ChangeOptions& options) {
  const std::vector<std::size_t> boundaries = changes.boundaries();
  for (std::size_t level = 0; level + 1 < boundaries.size(); ++level) {
    const auto part = logs.subspan(boundaries[level], boundaries[level + 1] - boundaries[level]);
    changes.add(by_scan(scan_levels(part, options.least, options.alpha), boundaries[level]));
  }
}

double change_of(const Surroundings& around) {
  return std::expm1(moments_of(around.from).mean - moments_of(around.before).mean);
}

// One outlier among the last three runs, however far away, has |t| = 4.7 at n = 50 and would pass for a new level. The
// median of so short a level must be at least half as far from the other level as its mean is.
bool is_outlier(const Surroundings& around, std::size_t least) {
  const bool from_is_short = around.from.size() <= around.before.size();
  const auto brief = from_is_short ? around.from : around.before;
  if (brief.size() >= 2 * least) return false;
  const double other = moments_of(from_is_short ? around.before : around.from).mean;
  return 2 * std::abs(sample_median({brief.begin(), brief.end()}) - other) < std::abs(moments_of(brief).mean - other);
}

// What either detector says of the point, whichever found it.
void judge_point(ChangePoint& point, const Surroundings& around, const ChangeOptions& options, double phi) {
  point.change = change_of(around);
  point.statistic = corrected_t_of(around.both, options.least);
  point.by_scan |= point.statistic > scan_critical_value(around.both.size(), options.alpha);
  if (point.by_e_divisive) return;
  const std::size_t before = std::min(kNear, around.before.size());
  const std::size_t from = std::min(kNear, around.from.size());
  const auto near = around.both.subspan(around.before.size() - before, before + from);
  if (const auto p = e_divisive_p(near, divisive_options(options, phi, near.size()))) {
    point.by_e_divisive = true;
    point.p = *p;
  }
}

}  // namespace

std::vector<ChangePoint> find_change_points(std::span<const double> logs, const ChangeOptions& options) {
  INFERMETER_CHECK(options.least >= 2);
  if (logs.size() < 2 * options.least) return {};
  ChangeList changes = far_changes(logs, options);
  const double phi = autocorrelation_between(logs, changes);
  changes.add(by_e_divisive(e_divisive(logs, changes.boundaries(), divisive_options(options, phi, logs.size()))));
  changes.relocate();
  add_scanned(logs, changes, options);
  changes.drop_weaker(options.smallest_change, [&](const Surroundings& around) {
    return is_outlier(around, options.least) ? -1 : std::abs(change_of(around));
  });
  changes.for_each([&](ChangePoint& point, const Surroundings& around) { judge_point(point, around, options, phi); });
  return changes.points();
}

std::vector<Level> levels_of(std::span<const double> logs, std::span<const ChangePoint> change_points) {
  std::vector<Level> levels;
  if (logs.empty()) return levels;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= change_points.size(); ++i) {
    const std::size_t end = i < change_points.size() ? change_points[i].index : logs.size();
    const Moments moments = moments_of(logs.subspan(begin, end - begin));
    levels.push_back({begin, end, moments.mean, std::sqrt(moments.variance)});
    begin = end;
  }
  return levels;
}

}  // namespace infermeter
