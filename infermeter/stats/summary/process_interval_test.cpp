#include "infermeter/stats/summary/process_interval.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/summary/moments.hpp"

namespace infermeter::process_interval_test {
namespace {

const std::vector<double> first = {0.0112, 0.0118, 0.0109, 0.0131};
const std::vector<double> second = {0.0201, 0.0225, 0.0209};

// l = np.log(first); np.exp(scipy.stats.t.interval(0.95, 3, l.mean(), scipy.stats.sem(l)))
TEST(ProcessInterval, IsSciPysTOnLogarithms) {
  const Centre centre = centre_of(first, 0.95);
  EXPECT_TRUE(centre.geometric);
  EXPECT_NEAR(centre.value, 0.011720589509200345, 1e-15);
  ASSERT_TRUE(centre.interval);
  EXPECT_NEAR(centre.interval->low, 0.010300702009837846, 1e-14);
  EXPECT_NEAR(centre.interval->high, 0.013336199640760183, 1e-14);
  EXPECT_EQ(centre.interval->confidence, 0.95);
  EXPECT_NEAR(centre_of(first, 0.99).interval->low, 0.009247366758458197, 1e-14);
}

// r = scipy.stats.ttest_ind(np.log(second), np.log(first), equal_var=False).confidence_interval(0.95); np.exp([r.low,
// r.high])
TEST(ProcessInterval, RatioIsSciPysWelch) {
  const auto centre = ratio_of(second, first, 0.95);
  ASSERT_TRUE(centre && centre->interval);
  EXPECT_NEAR(centre->value, 1.8039541617924832, 1e-12);
  EXPECT_NEAR(centre->interval->low, 1.5768310115381834, 1e-9);   // 1.5644 with a common variance
  EXPECT_NEAR(centre->interval->high, 2.0637916137087706, 1e-9);  // 2.0801
}

// z = [1, -2, 4]; scipy.stats.t.interval(0.95, 2, np.mean(z), scipy.stats.sem(z))
TEST(ProcessInterval, IsArithmeticWhereALogarithmIsNot) {
  const Centre centre = centre_of(std::vector<double>{1, -2, 4}, 0.95);
  EXPECT_FALSE(centre.geometric);
  EXPECT_DOUBLE_EQ(centre.value, 1);
  EXPECT_NEAR(centre.interval->low, -6.45241313525099, 1e-12);
  EXPECT_NEAR(centre.interval->high, 8.452413135250989, 1e-12);
  EXPECT_FALSE(ratio_of(std::vector<double>{1, 0}, first, 0.95));
  EXPECT_FALSE(ratio_of(first, std::vector<double>{1, 0}, 0.95));
}

// z = [0.8, 0.9, 0.95]; scipy.stats.t.interval(0.95, 2, np.mean(z), scipy.stats.sem(z)); the geometric mean is 0.8811
TEST(ProcessInterval, IsArithmeticWhereThatIsAskedFor) {
  const Centre centre = arithmetic_centre_of(std::vector<double>{0.8, 0.9, 0.95}, 0.95);
  EXPECT_FALSE(centre.geometric);
  EXPECT_NEAR(centre.value, 0.8833333333333334, 1e-15);
  EXPECT_NEAR(centre.interval->low, 0.6936041816534955, 1e-12);
  EXPECT_NEAR(centre.interval->high, 1.0730624850131714, 1e-12);
  EXPECT_FALSE(arithmetic_centre_of(std::vector<double>{2}, 0.95).interval);
  EXPECT_EQ(arithmetic_centre_of(std::vector<double>{-0.1, -0.1}, 0.95).interval->low, -0.1);
}

TEST(ProcessInterval, NeedsTwoProcesses) {
  EXPECT_FALSE(centre_of(std::vector<double>{2}, 0.95).interval);
  EXPECT_DOUBLE_EQ(centre_of(std::vector<double>{2}, 0.95).value, 2);
  EXPECT_FALSE(ratio_of(std::vector<double>{2}, first, 0.95)->interval);
  EXPECT_FALSE(ratio_of(first, std::vector<double>{2}, 0.95)->interval);
}

TEST(ProcessInterval, EqualValuesGiveAnIntervalWithoutWidth) {
  const std::vector<double> equal(5, 0.1);
  const Centre centre = centre_of(equal, 0.95);
  EXPECT_EQ(centre.value, 0.1);
  EXPECT_EQ(centre.interval->low, 0.1);
  EXPECT_EQ(centre.interval->high, 0.1);
  EXPECT_EQ(centre_of(std::vector<double>{0, 0}, 0.95).value, 0);
  EXPECT_DOUBLE_EQ(ratio_of(equal, equal, 0.95)->interval->high, 1);
}

TEST(ProcessInterval, GivesNoIntervalBeyondDoubles) {
  const Centre centre = centre_of(std::vector<double>{1e-300, 1e300}, 0.95);
  EXPECT_NEAR(centre.value, 1, 1e-9);
  EXPECT_FALSE(centre.interval);
}

TEST(Moments, KeepASmallSpreadOnALargeMean) {
  const Moments moments = moments_of(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 3});
  EXPECT_EQ(moments.mean, 1e9 + 2);
  EXPECT_DOUBLE_EQ(moments.variance, 1);
  EXPECT_EQ(moments_of({}).count, 0U);
  EXPECT_EQ(moments_of(std::vector<double>{7}).variance, 0);
  EXPECT_EQ(moments_of(std::vector<double>(1000, 0.1)).variance, 0);
}

double coverage_of_mean(int processes, std::mt19937_64& random) {
  std::normal_distribution<double> process(std::log(0.01), 0.02);
  constexpr int runs = 2000;
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> values(static_cast<std::size_t>(processes));
    for (double& value : values) value = std::exp(process(random));
    const Centre centre = centre_of(values, 0.95);
    covered += centre.interval->low <= 0.01 && 0.01 <= centre.interval->high ? 1 : 0;
  }
  return static_cast<double>(covered) / runs;
}

// With the normal's 1.96 in place of t it would be 81 % at 3 processes, 91 % at 8 and 93 % at 16.
TEST(ProcessInterval, CoversTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(1);
  for (const int processes : {3, 8, 16}) {
    const double covered = coverage_of_mean(processes, random);
    EXPECT_GE(covered, 0.935) << processes;
    EXPECT_LE(covered, 0.965) << processes;
  }
}

TEST(ProcessInterval, RatioCoversTheTruthWithUnequalSpreads) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> slow(std::log(0.02), 0.05);
  std::normal_distribution<double> fast(std::log(0.01), 0.01);
  constexpr int runs = 2000;
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> above(4);
    std::vector<double> below(12);
    for (double& value : above) value = std::exp(slow(random));
    for (double& value : below) value = std::exp(fast(random));
    const auto centre = ratio_of(above, below, 0.95);
    covered += centre->interval->low <= 2 && 2 <= centre->interval->high ? 1 : 0;
  }
  // A common variance (Student) covers 71 % here.
  EXPECT_GE(covered, runs * 0.93);
  EXPECT_LE(covered, runs * 0.97);
}

TEST(ProcessInterval, WelchsPIsThatOfOthers) {
  const std::vector<double> one = {1, 1.1, 1.2}, other = {1.3, 1.4, 1.6, 1.5};
  // scipy.stats.ttest_ind(log(one), log(other), equal_var=False)
  EXPECT_NEAR(*welch_p(one, other), 0.013398055634869632, 1e-12);
  EXPECT_DOUBLE_EQ(*welch_p(other, one), *welch_p(one, other));
  EXPECT_EQ(welch_p(std::vector<double>{2, 2}, std::vector<double>{2, 2}), 1.0);
  EXPECT_EQ(welch_p(std::vector<double>{2, 2}, std::vector<double>{3, 3}), 0.0);
  EXPECT_FALSE(welch_p(std::vector<double>{2}, other));
  EXPECT_FALSE(welch_p(std::vector<double>{0, 1}, other));
}

}  // namespace
}  // namespace infermeter::process_interval_test
