#include "infermeter/stats/summary/deviations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "infermeter/stats/test_normal.hpp"

namespace infermeter::deviations_test {
namespace {

const std::vector<std::vector<double>> three_runs = {{10.1, 10.3, 9.9}, {10.6, 10.4, 10.5, 10.7}, {9.8, 10.0}};

// L = [np.log(r) for r in runs]; m = [l.mean() for l in L]; v = [l.var(ddof=1)/len(l) for l in L]; k = [len(l) for l in
// L] a = -np.ones(3)/3; a[r] += 1; var = (a**2*v).sum(); df = var**2/((a**2*v)**2/(k-1)).sum() np.expm1(m[r] - mean(m)
// + [0, -1, 1] * scipy.stats.t.ppf(1 - 0.05/3/2, df) * sqrt(var))
TEST(Deviations, AreSciPysContrasts) {
  const auto found = deviations_from_centre(three_runs, 0.95);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(found[0].value, -0.007883446898851832, 1e-14);
  EXPECT_NEAR(found[0].interval->low, -0.04868489451331722, 1e-10);  // -0.0910 with the centre as a constant
  EXPECT_NEAR(found[0].interval->high, 0.03466795519214244, 1e-10);
  EXPECT_NEAR(found[1].interval->low, 0.013759213052681026, 1e-10);  // 0.0197 without Bonferroni
  EXPECT_NEAR(found[1].interval->high, 0.05954040423984754, 1e-10);
  EXPECT_NEAR(found[2].interval->low, -0.0900572959795891, 1e-10);
  EXPECT_EQ(found[2].interval->confidence, 0.95);
}

TEST(Deviations, OfTwoRunsAreOneContrastInBothDirections) {
  const std::vector<std::vector<double>> runs = {{1, 1.1, 1.05}, {1.2, 1.3, 1.25}};
  const auto found = deviations_from_centre(runs, 0.95);
  EXPECT_NEAR((1 + found[0].value) * (1 + found[1].value), 1, 1e-12);
  EXPECT_NEAR((1 + found[0].interval->low) * (1 + found[1].interval->high), 1, 1e-12);
  // Half of Welch's: d_1 = (m_1 - m_2) / 2.
  // r = scipy.stats.ttest_ind(np.log(a), np.log(b), equal_var=False).confidence_interval(0.95); np.expm1([r.low/2,
  // r.high/2])
  EXPECT_NEAR(found[0].interval->low, -0.12869509, 1e-8);
  EXPECT_NEAR(found[0].interval->high, -0.03614368, 1e-8);
}

TEST(Deviations, NeedTwoProcessesOfEveryRunForIntervals) {
  const std::vector<std::vector<double>> runs = {{10, 11}, {12}};
  const auto found = deviations_from_centre(runs, 0.95);
  EXPECT_FALSE(found[0].interval);
  EXPECT_FALSE(found[1].interval);
  EXPECT_GT(found[1].value, 0);
}

TEST(Deviations, WithoutSpreadHaveNoWidth) {
  const std::vector<std::vector<double>> runs = {{10, 10}, {10, 10}, {10, 10}};
  for (const Deviation& one : deviations_from_centre(runs, 0.95)) {
    EXPECT_EQ(one.value, 0);
    EXPECT_EQ(one.interval->low, 0);
    EXPECT_EQ(one.interval->high, 0);
  }
}

// Three runs of five processes that differ by nothing: all three intervals hold 0 together in at least 95 % of them.
// Each at 95 % alone, they do so in 88 %.
TEST(Deviations, HoldTogether) {
  NormalNoise normal(7);
  int all_hold = 0;
  constexpr int repetitions = 4000;
  for (int i = 0; i < repetitions; ++i) {
    std::vector<std::vector<double>> runs(3, std::vector<double>(5));
    for (auto& run : runs) {
      for (double& value : run) value = std::exp(0.01 * normal());
    }
    bool hold = true;
    for (const Deviation& one : deviations_from_centre(runs, 0.95)) {
      hold = hold && one.interval->low <= 0 && one.interval->high >= 0;
    }
    all_hold += hold ? 1 : 0;
  }
  EXPECT_GT(all_hold, repetitions * 0.94);
  EXPECT_LT(all_hold, repetitions * 0.98);
}

}  // namespace
}  // namespace infermeter::deviations_test
