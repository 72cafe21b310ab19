#include <cmath>

#include <gtest/gtest.h>

#include "infermeter/stats/sequential.hpp"

namespace infermeter::detectable_effect_test {
namespace {

// from scipy.stats import t; (t.ppf(0.975, n - 1) + t.ppf(0.80, n - 1)) * 0.01 / n**0.5
TEST(DetectableEffect, IsSciPysSumOfQuantiles) {
  EXPECT_NEAR(minimum_detectable_effect(0.01, 40), 0.0045436015568030095,
              1e-12);                                                           // with the normal's quantiles: 0.00443
  EXPECT_NEAR(minimum_detectable_effect(0.01, 8), 0.01152815240448928, 1e-12);  // 0.00991
  EXPECT_NEAR(minimum_detectable_effect(0.01, 2), 0.09957892521561483, 1e-11);
}

TEST(DetectableEffect, NeedsTheLeastPairsThatShowIt) {
  for (const double effect : {0.02, 0.01, 0.005, 0.0003}) {
    const auto pairs = pairs_needed(0.01, effect);
    ASSERT_TRUE(pairs) << effect;
    EXPECT_LE(minimum_detectable_effect(0.01, *pairs), effect);
    EXPECT_TRUE(*pairs == 6 || minimum_detectable_effect(0.01, *pairs - 1) > effect) << effect;
    EXPECT_EQ(pairs_needed(0.01, -effect), pairs);
  }
  EXPECT_EQ(pairs_needed(0.01, 0.01), 10);
}

TEST(DetectableEffect, IsNeverShownByFewerThanSixPairs) {
  EXPECT_EQ(pairs_needed(0.0001, 0.5), 6);
  EXPECT_EQ(pairs_needed(0, 0.5), 6);
}

TEST(DetectableEffect, EndsAtAMillion) {
  EXPECT_FALSE(pairs_needed(0.01, 0));
  EXPECT_FALSE(pairs_needed(0, 0));
  EXPECT_FALSE(pairs_needed(0.01, 0.00002));
  EXPECT_TRUE(pairs_needed(0.01, 0.00003));
}

}  // namespace
}  // namespace infermeter::detectable_effect_test
