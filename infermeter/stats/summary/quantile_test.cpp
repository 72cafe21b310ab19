#include "infermeter/stats/summary/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace infermeter::quantile_test {
namespace {

// np.percentile([5, 1, 4, 2, 9, 7.5, 3], [25, 50, 75, 90, 95, 99])
TEST(Quantile, IsNumPysDefault) {
  const std::vector<double> sorted = {1, 2, 3, 4, 5, 7.5, 9};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.50), 4.0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 6.25);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.90), 8.1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.95), 8.55);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.99), 8.91);
  EXPECT_EQ(quantile(sorted, 0), 1);
  EXPECT_EQ(quantile(sorted, 1), 9);
  EXPECT_EQ(quantile(std::vector<double>{3}, 0.99), 3);
}

// from scipy.stats import binom; the least n with binom.cdf(n - 1, n, q) - binom.cdf(0, n, q) >= 0.95 (0.99)
TEST(Quantile, NeedsAsManyAsTheBinomialSays) {
  EXPECT_EQ(quantile_needs(0.50, 0.95), 6);
  EXPECT_EQ(quantile_needs(0.90, 0.95), 29);
  EXPECT_EQ(quantile_needs(0.95, 0.95), 59);
  EXPECT_EQ(quantile_needs(0.99, 0.95), 299);  // 368 with equal tails
  EXPECT_EQ(quantile_needs(0.99, 0.99), 459);
  EXPECT_EQ(quantile_needs(0.50, 0.99), 8);
  EXPECT_EQ(quantile_needs(0.10, 0.95), 29);
}

TEST(Quantile, MedianIsOfValuesInAnyOrder) {
  EXPECT_EQ(sample_median({9, 1, 5}), 5);
  EXPECT_EQ(sample_median({9, 1, 5, 4}), 4.5);
  EXPECT_EQ(sample_median({3}), 3);
}

TEST(Quantile, HasAnIntervalFromTheLeastNumberOn) {
  for (const double q : {0.5, 0.9, 0.95, 0.99}) {
    const std::int64_t needed = quantile_needs(q, 0.95);
    EXPECT_FALSE(quantile_ranks(needed - 1, q, 0.95)) << q;
    ASSERT_TRUE(quantile_ranks(needed, q, 0.95)) << q;
  }
  for (std::int64_t n = 0; n < 6; ++n) EXPECT_FALSE(quantile_ranks(n, 0.5, 0.95)) << n;
}

struct RankCase {
  std::int64_t n;
  double q;
  std::int64_t low, high;
  double coverage;
};

// Fewest ranks u - l with F(u - 1) - F(l - 1) >= 0.95, F = scipy.stats.binom(n, q).cdf, found by trying all pairs.
TEST(Quantile, RanksAreTheFewestThatCover) {
  for (const RankCase& c : {RankCase{300, 0.99, 290, 300, 0.950694262223382},
                            {60, 0.95, 52, 60, 0.9510815952108823},
                            {100, 0.9, 84, 96, 0.955690107191223},
                            {29, 0.9, 21, 29, 0.951348526189385},
                            {6, 0.5, 1, 6, 0.96875}}) {
    const auto ranks = quantile_ranks(c.n, c.q, 0.95);
    ASSERT_TRUE(ranks) << c.n;
    EXPECT_EQ(ranks->low, c.low) << c.n;
    EXPECT_EQ(ranks->high, c.high) << c.n;
    EXPECT_NEAR(ranks->coverage, c.coverage, 1e-10) << c.n;
  }
  // 40 to 60 and 41 to 61 are equally good.
  EXPECT_EQ(quantile_ranks(100, 0.5, 0.95)->high - quantile_ranks(100, 0.5, 0.95)->low, 20);
  EXPECT_NEAR(quantile_ranks(100, 0.5, 0.95)->coverage, 0.9539559330706572, 1e-10);
}

TEST(Quantile, RanksOfMillionsAreFoundFast) {
  const auto ranks = quantile_ranks(1'000'000, 0.99, 0.95);
  ASSERT_TRUE(ranks);
  // ± 1.96 √(n q (1 - q)) = 195
  EXPECT_NEAR(static_cast<double>(ranks->low), 990'000 - 195, 2);
  EXPECT_NEAR(static_cast<double>(ranks->high), 990'000 + 195, 2);
}

TEST(Quantile, IntervalCoversTheTrueQuantile) {
  std::mt19937_64 random(20261121);
  std::exponential_distribution<double> latency(1);
  constexpr int runs = 2000;
  for (const double q : {0.5, 0.9}) {
    int covered = 0;
    for (int run = 0; run < runs; ++run) {
      std::vector<double> values(80);
      for (double& value : values) value = latency(random);
      std::ranges::sort(values);
      const auto interval = quantile_interval(values, q, 0.95);
      ASSERT_TRUE(interval);
      const double truth = -std::log(1 - q);
      covered += interval->low <= truth && truth < interval->high ? 1 : 0;
    }
    // At least 95 %, and at most what one rank more gives (about 97 %); 4 standard errors are 2 %.
    EXPECT_GT(covered, runs * 0.935) << q;
    EXPECT_LT(covered, runs * 0.985) << q;
  }
}

}  // namespace
}  // namespace infermeter::quantile_test
