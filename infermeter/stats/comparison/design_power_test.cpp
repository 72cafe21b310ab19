#include "infermeter/stats/comparison/design_power.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/test_noise.hpp"
#include "infermeter/stats/test_normal.hpp"

namespace infermeter::design_power_test {
namespace {

// How often the looks at up to `pairs` pairs tell the direction of an effect.
double power_at(const Design& design, int pairs, double effect, bool ended, int runs) {
  NormalNoise noise(static_cast<std::uint64_t>(pairs));
  int found = 0;
  for (int run = 0; run < runs; ++run) {
    const auto values = noise.draw(static_cast<std::size_t>(pairs), effect);
    const auto looks = take_looks({values}, design, ended);
    found += !looks.empty() && looks.back().direction == Direction::slower ? 1 : 0;
  }
  return static_cast<double>(found) / runs;
}

// 4 standard errors of 6000 runs are 2 points.
TEST(DesignPowerSimulation, IsThatOfTheDesignThatRuns) {
  for (const int pairs : {16, 24, 32, 40}) {
    const auto effect = detectable_effect({}, pairs, false);
    ASSERT_TRUE(effect);
    EXPECT_NEAR(power_at({}, pairs, *effect, false, 6000), 0.80, 0.02) << pairs << " pairs: " << *effect;
  }
}

TEST(DesignPowerSimulation, HoldsWherePairsEndEarlyAndForOneLook) {
  EXPECT_NEAR(power_at({}, 22, *detectable_effect({}, 22, true), true, 6000), 0.80, 0.02);
  const Design once{.looks = {30}};
  EXPECT_NEAR(power_at(once, 30, *detectable_effect(once, 30, false), false, 6000), 0.80, 0.02);
}

TEST(DesignPowerSimulation, HoldsUntilResolved) {
  const Design open{.until_resolved = true};
  EXPECT_NEAR(power_at(open, 20, *detectable_effect(open, 20, false), true, 2000), 0.80, 0.04);
}

TEST(DesignPower, IsNoneOfPairsThatDecideNothing) {
  EXPECT_FALSE(detectable_effect({}, 7, false));
  EXPECT_FALSE(detectable_effect({}, 5, true));
  EXPECT_TRUE(detectable_effect({}, 6, true));
  EXPECT_FALSE(detectable_effect({.until_resolved = true}, 4, true));
}

TEST(DesignPowerSimulation, FallsWithTheRootOfThePairsOfLongPlans) {
  const Design many{.looks = usual_looks(800)};
  const Design few{.looks = usual_looks(200)};
  EXPECT_NEAR(*detectable_effect(many, 800, false), *detectable_effect(few, 200, false) / 2, 1e-12);
}

TEST(DesignPower, PairsNeededAreAtTheNextLookThatShowsTheEffect) {
  EXPECT_EQ(pairs_needed({}, 0, 3.0), 8);
  const int needed = pairs_needed({}, 8, 0.6).value();
  EXPECT_GT(needed, 16);
  EXPECT_LE(*detectable_effect({}, needed, false), 0.6);
  // Beyond the plan by the root: a quarter of what 40 pairs show takes 640.
  EXPECT_NEAR(pairs_needed({}, 40, *detectable_effect({}, 40, false) / 4).value(), 640, 1);
  EXPECT_FALSE(pairs_needed({}, 40, 0));
  EXPECT_FALSE(pairs_needed({}, 40, 1e-6));
}

TEST(Spread, IsTheStandardDeviationOfNormalDifferences) {
  NormalNoise noise(5);
  for (const std::size_t pairs : {8U, 20U, 40U}) {
    double sum = 0;
    constexpr int runs = 2000;
    for (int run = 0; run < runs; ++run) sum += spread_of(noise.draw(pairs, 0.3, 0.02));
    EXPECT_NEAR(sum / runs, 0.02, 0.0005) << pairs;
  }
}

// The mean of the squares of Cauchy's distribution is infinite; a tenth of its interquartile range is what it is.
TEST(Spread, IsNotCarriedAwayByHeavyTails) {
  SplitMix random(6);
  std::vector<double> values(200);
  for (double& value : values) value = std::tan(3.14159265 * (random.uniform() - 0.5));
  EXPECT_LT(spread_of(values), 4);
  EXPECT_GT(std::sqrt(moments_of(values).variance), 10);
}

TEST(Spread, OfFewOrEqualValuesIsTheStandardDeviation) {
  EXPECT_DOUBLE_EQ(spread_of(std::vector<double>{1, 3}), std::sqrt(2));
  EXPECT_EQ(spread_of(std::vector<double>(10, 0.5)), 0);
}

}  // namespace
}  // namespace infermeter::design_power_test
