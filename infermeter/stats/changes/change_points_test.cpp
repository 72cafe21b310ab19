#include "infermeter/stats/changes/change_points.hpp"

#include "infermeter/stats/changes/scan_critical_values.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/changes/level_scan.hpp"
#include "infermeter/stats/test_series.hpp"

namespace infermeter::change_points_test {
namespace {

std::vector<std::size_t> indices_of(const std::vector<ChangePoint>& points) {
  std::vector<std::size_t> indices;
  for (const ChangePoint& point : points) indices.push_back(point.index);
  return indices;
}

// The share of series of which something holds.
double share(int series, const std::function<bool(Noise&)>& holds) {
  Noise noise(20261121);
  int count = 0;
  for (int i = 0; i < series; ++i) count += holds(noise) ? 1 : 0;
  return static_cast<double>(count) / series;
}

// Of six values there is one split: Student's t with 4 degrees of freedom, scipy.stats.t.ppf([0.975, 0.995], 4).
TEST(ScanCriticalValue, IsStudentsWhereThereIsOneSplit) {
  EXPECT_NEAR(scan_critical_value(6, 0.05), 2.7764, 0.005);
  EXPECT_NEAR(scan_critical_value(6, 0.01), 4.6041, 0.01);
}

TEST(ScanCriticalValue, IsExceededAsOftenAsItSays) {
  EXPECT_NEAR(scan_critical_value(50, 0.01), 3.72, 0.015);
  for (const std::size_t n : {11u, 50u, 120u}) {  // the first and the last are between rows
    for (const double alpha : {0.01, 0.05}) {
      const double exceeded = share(20'000, [&](Noise& noise) {
        return best_level_split(noise.independent(n, 1), 3).t > scan_critical_value(n, alpha);
      });
      EXPECT_NEAR(exceeded, alpha, 4 * std::sqrt(alpha / 20'000)) << n;
    }
  }
}

TEST(ScanCriticalValue, GrowsBeyondTheTable) {
  EXPECT_EQ(scan_critical_value(2, 0.01), scan_critical_value(6, 0.01));
  EXPECT_GT(scan_critical_value(100'000, 0.01), scan_critical_value(10'000, 0.01));
  EXPECT_LT(scan_critical_value(100'000, 0.01), 4.1);
}

TEST(ChangePointsSimulation, AreRareInNoise) {
  for (const double sd : {0.005, 0.01}) {
    EXPECT_LE(share(1000, [&](Noise& noise) { return !find_change_points(noise.independent(50, sd)).empty(); }), 0.015)
        << sd;
  }
}

// The scan without its correction: 25 %; E-divisive on single values: 20 %.
TEST(ChangePointsSimulation, AreRareInAutocorrelatedNoise) {
  EXPECT_LE(share(1000, [](Noise& noise) { return !find_change_points(noise.autoregressive(50, 0.5, 0.01)).empty(); }),
            0.05);
}

TEST(ChangePointsSimulation, AStepIsFoundWithinThreeRuns) {
  for (const double by : {0.02, -0.02}) {
    int near = 0;
    const double found = share(1000, [&](Noise& noise) {
      std::vector<double> logs = noise.independent(50, 0.005);
      raise(logs, 47, 50, by);
      const std::vector<ChangePoint> points = find_change_points(logs);
      near += points.size() == 1 && points[0].index >= 46 && points[0].index <= 48 ? 1 : 0;
      return !points.empty();
    });
    EXPECT_GE(found, 0.95) << by;
    EXPECT_GE(near, 940) << by;
  }
}

// Any single split lies beside it: the scan alone finds 0 %.
TEST(ChangePointsSimulation, ABumpIsFound) {
  const double found = share(300, [&](Noise& noise) {
    std::vector<double> logs = noise.independent(50, 0.005);
    raise(logs, 18, 33, 0.02);
    const std::vector<ChangePoint> points = find_change_points(logs);
    return points.size() == 2 && points[0].change > 0 && points[1].change < 0;
  });
  EXPECT_GE(found, 0.95);
}

// Levels that are not distinguished yet look like an autocorrelation of 0.9.
TEST(ChangePoints, ManyLevelsDoNotHideEachOther) {
  std::vector<double> logs = Noise(8).autoregressive(400, 0.3, 0.005);
  for (std::size_t begin = 40; begin < 400; begin += 80) raise(logs, begin, begin + 40, 0.03);
  std::size_t expected = 40;
  for (const ChangePoint& point : find_change_points(logs)) {
    EXPECT_NEAR(static_cast<double>(point.index), static_cast<double>(expected), 1);
    EXPECT_NEAR(std::abs(point.change), 0.03, 0.007);
    expected += 40;
  }
  EXPECT_EQ(expected, 400u);
}

// Without a look at the median: 45 %.
TEST(ChangePoints, AnOutlierAmongTheLastRunsIsNoLevel) {
  EXPECT_LE(share(300,
                  [](Noise& noise) {
                    std::vector<double> logs = noise.independent(50, 0.01);
                    logs.back() += 0.1;
                    return !find_change_points(logs).empty();
                  }),
            0.10);
}

TEST(ChangePoints, SayWhatBothDetectorsThink) {
  std::vector<double> logs = Noise(9).independent(60, 0.005);
  raise(logs, 30, 60, 0.02);
  const std::vector<ChangePoint> points = find_change_points(logs);
  ASSERT_EQ(indices_of(points), std::vector<std::size_t>{30});
  const std::vector<Level> levels = levels_of(logs, points);
  EXPECT_NEAR(points[0].change, std::exp(levels[1].mean_log - levels[0].mean_log) - 1, 1e-15);
  EXPECT_NEAR(points[0].change, std::exp(0.02) - 1, 0.004);
  EXPECT_TRUE(points[0].by_scan);
  EXPECT_GT(points[0].statistic, 10);
  EXPECT_TRUE(points[0].by_e_divisive);
  EXPECT_EQ(points[0].p, 1.0 / 200);
}

TEST(ChangePoints, SmallChangesAreNotReported) {
  std::vector<double> logs = Noise(10).independent(200, 0.002);
  raise(logs, 100, 200, 0.008);
  EXPECT_TRUE(find_change_points(logs).empty());
  EXPECT_EQ(indices_of(find_change_points(logs, {.smallest_change = 0.005})), std::vector<std::size_t>{100});
}

// Peak memory often is the same to the byte from run to run.
TEST(ChangePoints, NeedNoNoise) {
  std::vector<double> logs(12, std::log(3.1e8));
  EXPECT_TRUE(find_change_points(logs).empty());
  for (std::size_t i = 9; i < 12; ++i) logs[i] = std::log(3.2e8);
  const std::vector<ChangePoint> points = find_change_points(logs);
  ASSERT_EQ(indices_of(points), std::vector<std::size_t>{9});
  EXPECT_NEAR(points[0].change, 1.0 / 31, 1e-12);
  EXPECT_TRUE(std::isfinite(points[0].statistic));
}

TEST(ChangePoints, NeedThreeRunsOnEitherSide) {
  EXPECT_TRUE(find_change_points({}).empty());
  EXPECT_TRUE(find_change_points(std::vector<double>{0, 0, 0, 1, 1}).empty());
  EXPECT_EQ(indices_of(find_change_points(std::vector<double>{0, 0, 0, 1, 1, 1})), std::vector<std::size_t>{3});
}

TEST(ChangePoints, AreTheSameForTheSameSeed) {
  Noise noise(11);
  std::vector<double> logs = noise.autoregressive(300, 0.4, 0.01);
  raise(logs, 150, 300, 0.012);
  const auto first = find_change_points(logs, {.seed = 3});
  const auto second = find_change_points(logs, {.seed = 3});
  ASSERT_EQ(indices_of(first), indices_of(second));
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].p, second[i].p);
    EXPECT_EQ(first[i].statistic, second[i].statistic);
  }
}

// 0.3 s; an energy statistic in O(n²) would take minutes.
TEST(ChangePoints, OfTenThousandRunsAreFoundFast) {
  std::vector<double> logs = Noise(12).independent(10'000, 0.005);
  for (std::size_t begin = 0; begin < logs.size(); begin += 400) raise(logs, begin, begin + 200, 0.02);
  const std::clock_t began = std::clock();
  EXPECT_EQ(find_change_points(logs).size(), 49u);
  EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 10);
}

TEST(Levels, LieBetweenChangePoints) {
  const std::vector<double> logs = {1, 2, 3, 7, 7, 7, 5};
  const std::vector<ChangePoint> points = {{.index = 3}, {.index = 6}};
  const std::vector<Level> levels = levels_of(logs, points);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].begin, 0u);
  EXPECT_EQ(levels[0].end, 3u);
  EXPECT_EQ(levels[0].mean_log, 2);
  EXPECT_EQ(levels[0].sd, 1);
  EXPECT_EQ(levels[1].sd, 0);
  EXPECT_EQ(levels[2].begin, 6u);
  EXPECT_EQ(levels[2].end, 7u);
  EXPECT_EQ(levels[2].mean_log, 5);
  EXPECT_EQ(levels[2].sd, 0);
  EXPECT_EQ(levels_of(logs, {}).size(), 1u);
  EXPECT_TRUE(levels_of({}, {}).empty());
}

}  // namespace
}  // namespace infermeter::change_points_test
