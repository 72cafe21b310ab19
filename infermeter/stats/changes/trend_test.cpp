#include "infermeter/stats/changes/trend.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/test_noise.hpp"
#include "infermeter/text/counts.hpp"

namespace infermeter::trend_test {
namespace {

std::vector<double> counted(std::size_t n) {
  std::vector<double> x;
  for (std::size_t i = 1; i <= n; ++i) x.push_back(static_cast<double>(i));
  return x;
}

// statsmodels 0.14: OLS(y, add_constant(x)).fit(cov_type="HAC", cov_kwds={"maxlags": 2, "kernel": "bartlett"}), x = 1 …
// 15; params[1], bse[1]. Its maxlags is our width, a fifth of the points, less one.
TEST(Trend, IsNeweyAndWests) {
  const std::vector<double> y = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
  const Trend trend = trend_of(counted(15), y);
  EXPECT_NEAR(trend.slope, 0.4357142857142859, 1e-12);
  ASSERT_TRUE(trend.interval);
  const double critical = 3.03 * std::sqrt(15.0 / 12.0);
  EXPECT_NEAR(trend.interval->high - trend.slope, critical * 0.06096822272659254, 1e-12);
  EXPECT_NEAR(trend.slope - trend.interval->low, critical * 0.06096822272659254, 1e-12);
}

double coverage(std::size_t points, double correlation, int runs) {
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    SplitMix random(static_cast<std::uint64_t>(run));
    double e = random.normal();
    std::vector<double> y;
    for (std::size_t i = 0; i < points; ++i) {
      e = correlation * e + std::sqrt(1 - correlation * correlation) * random.normal();
      y.push_back(0.3 * static_cast<double>(i) + e);
    }
    const auto interval = trend_of(counted(points), y).interval;
    covered += interval->low <= 0.3 && 0.3 <= interval->high ? 1 : 0;
  }
  return static_cast<double>(covered) / runs;
}

TEST(Trend, IntervalCoversTheSlope) {
  // 3 standard errors are 1.5 %. With 1.96 in place of the critical value it would be 83 %.
  EXPECT_NEAR(coverage(10, 0, 2000), 0.95, 0.02);
  EXPECT_NEAR(coverage(50, 0, 2000), 0.95, 0.02);
  EXPECT_NEAR(coverage(500, 0, 2000), 0.95, 0.02);
}

TEST(Trend, IntervalBearsAutocorrelation) {
  // Ordinary least squares would cover 35 % of them at 0.9.
  EXPECT_GT(coverage(1000, 0.5, 1000), 0.925);
  EXPECT_GT(coverage(1000, 0.9, 1000), 0.91);
}

TEST(Trend, OfAnExactLineIsExact) {
  std::vector<double> y;
  for (const double x : counted(64)) y.push_back(3e8 + 4096 * x);
  const Trend trend = trend_of(counted(64), y);
  EXPECT_EQ(trend.slope, 4096);
  EXPECT_EQ(trend.interval->low, 4096);
  EXPECT_EQ(trend.interval->high, 4096);
}

TEST(Trend, OfFewPointsHasNoInterval) {
  const Trend trend = trend_of(counted(3), std::vector<double>{1, 2, 3});
  EXPECT_DOUBLE_EQ(trend.slope, 1);
  EXPECT_FALSE(trend.interval);
}

}  // namespace
}  // namespace infermeter::trend_test
