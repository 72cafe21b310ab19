#include "infermeter/stats/changes/level_scan.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/test_series.hpp"

namespace infermeter::level_scan_test {
namespace {

// x = np.array([...]); max((abs(scipy.stats.ttest_ind(x[:k], x[k:]).statistic), k) for k in range(3, len(x) - 2));
// with 5 a side likewise
TEST(LevelScan, TIsThatOfTheBestTwoSampleTest) {
  const std::vector<double> values = {5.1, 4.9, 5.0, 5.3, 4.8, 5.2, 5.0, 6.1, 5.9, 6.3, 6.0};
  const LevelSplit best = best_level_split(values, 3);
  EXPECT_EQ(best.index, 7u);
  EXPECT_NEAR(best.t, 9.60314863712833, 1e-9);
  EXPECT_NEAR(best_level_split(values, 5).t, 3.68336874755625, 1e-9);
  EXPECT_EQ(best_level_split(values, 5).index, 6u);
}

TEST(LevelScan, LevelsWithoutNoiseHaveAFiniteT) {
  std::vector<double> values(20, 0.1);
  raise(values, 12, 20, 0.3);
  const LevelSplit best = best_level_split(values, 3);
  EXPECT_EQ(best.index, 12u);
  EXPECT_GT(best.t, 1e6);
  EXPECT_TRUE(std::isfinite(best.t));
  EXPECT_EQ(best_level_split(std::vector<double>(20, 0.1), 3).t, 0);
}

double average_autocorrelation(double phi, std::size_t n, double parameters) {
  Noise noise(static_cast<std::uint64_t>(1000 * phi) + n);
  constexpr int runs = 4000;
  double sum = 0;
  for (int run = 0; run < runs; ++run) {
    const std::vector<double> values = noise.autoregressive(n, phi, 1);
    sum += autocorrelation_around(values, std::array<std::size_t, 3>{0, n / 2, n}, parameters);
  }
  return sum / runs;
}

TEST(LevelScan, AutocorrelationIsFreedOfItsBias) {
  EXPECT_NEAR(average_autocorrelation(0.5, 80, 2), 0.5, 0.015);
  EXPECT_NEAR(average_autocorrelation(0.7, 120, 2), 0.7, 0.015);
}

TEST(LevelScan, AutocorrelationIsNeverNegative) {
  std::vector<double> zigzag(30);
  for (std::size_t i = 0; i < zigzag.size(); i += 2) zigzag[i] = 1;
  EXPECT_EQ(autocorrelation_around(zigzag, std::array<std::size_t, 2>{0, 30}, 1), 0);
}

TEST(LevelScan, CorrectsByTheVarianceOfAMeanOfAnAutoregressiveProcess) {
  EXPECT_EQ(corrected_t(4, 0), 4);
  EXPECT_NEAR(corrected_t(4, 0.5), 4 / std::sqrt(3), 1e-12);
}

TEST(LevelScan, GoesOnOnEitherSide) {
  std::vector<double> values = Noise(7).independent(90, 0.005);
  raise(values, 30, 90, 0.05);
  raise(values, 60, 90, 0.05);
  EXPECT_EQ(scan_far_levels(values, 3, 0.01, 1.5), (std::vector<std::size_t>{30, 60}));
  raise(values, 60, 90, -0.05);
  EXPECT_EQ(scan_levels(values, 3, 0.01), std::vector<std::size_t>{30});
}

TEST(LevelScan, AShortSeriesHasNoLevels) {
  EXPECT_TRUE(scan_levels(std::vector<double>{1, 1, 1, 9, 9}, 3, 0.01).empty());
  EXPECT_TRUE(scan_levels({}, 3, 0.01).empty());
}

}  // namespace
}  // namespace infermeter::level_scan_test
