#include "infermeter/stats/comparison/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/fixtures/paired_reference.hpp"
#include "infermeter/stats/test_normal.hpp"

namespace infermeter::signed_rank_test {
namespace {

std::vector<double> negated(std::vector<double> values) {
  for (double& value : values) value = -value;
  return values;
}

TEST(SignedRank, IsSciPysWilcoxon) {
  for (const auto& [differences, p] : reference::signed_rank) {
    EXPECT_NEAR(signed_rank_p(differences), p, 1e-9 * p) << differences.size();
  }
}

// Ranks in the order of the values would give 0.109 for the first and 0.031 for the second.
TEST(SignedRank, SharesRanksAmongTies) {
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector<double>{1, 1, 1, -1, 2, 2, 2}), 2 * 5.0 / 128);
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector<double>{-1, 1, 1, 1, 2, 2, 2}), 2 * 5.0 / 128);
}

TEST(SignedRank, OfOneSignIsTheSignTest) {
  for (const int n : {1, 2, 8, 40, 200}) {
    const std::vector<double> equal(static_cast<std::size_t>(n), 0.25);
    EXPECT_DOUBLE_EQ(signed_rank_p(equal), std::ldexp(1.0, 1 - n)) << n;
    EXPECT_DOUBLE_EQ(signed_rank_p(negated(equal)), std::ldexp(1.0, 1 - n)) << n;
  }
}

TEST(SignedRank, LeavesZerosOut) {
  EXPECT_EQ(signed_rank_p({}), 1);
  EXPECT_EQ(signed_rank_p(std::vector<double>(40, 0.0)), 1);
  EXPECT_EQ(signed_rank_p(std::vector<double>{0, 3, -1, 0, 2, 5}), signed_rank_p(std::vector<double>{3, -1, 2, 5}));
}

TEST(SignedRank, CountsAsWholeNumbersDo) {
  for (const auto& [n, w, probability] : reference::signed_rank_tails) {
    const std::vector<double> distribution = signed_rank_distribution(n);
    const double below = std::accumulate(distribution.begin(), distribution.begin() + w + 1, 0.0);
    EXPECT_NEAR(below / probability, 1, 1e-12) << n << " " << w;
  }
}

TEST(SignedRank, DistributionIsSymmetricAndComplete) {
  EXPECT_EQ(signed_rank_distribution(0), (std::vector<double>{1}));
  EXPECT_EQ(signed_rank_distribution(3), (std::vector<double>{0.125, 0.125, 0.125, 0.25, 0.125, 0.125, 0.125}));
  for (const int n : {7, 40, 200}) {
    std::vector<double> distribution = signed_rank_distribution(n);
    EXPECT_EQ(distribution.size(), static_cast<std::size_t>(n * (n + 1) / 2 + 1));
    EXPECT_NEAR(std::accumulate(distribution.begin(), distribution.end(), 0.0), 1, 1e-12);
    for (std::size_t w = 0; w < distribution.size(); ++w) {
      EXPECT_NEAR(distribution[w] / distribution[distribution.size() - 1 - w], 1, 1e-12);
    }
  }
}

// Where the exact test ends, the approximation continues it: within 2 % of p.
TEST(SignedRank, GoesOnSmoothlyBeyondTheExactTest) {
  NormalNoise noise(3);
  std::vector<double> differences = noise.draw(200, 0.08);
  const double exact = signed_rank_p(differences);
  differences.push_back(1e-9);
  EXPECT_NEAR(signed_rank_p(differences) / exact, 1, 0.02) << exact;
}

TEST(SignedRank, DoesNotDependOnWhichIsFirst) {
  for (const auto& [differences, p] : reference::signed_rank) {
    EXPECT_EQ(signed_rank_p(differences), signed_rank_p(negated(differences)));
  }
}

void expect_interval(const std::optional<Interval>& interval, double low, double high, const char* kind) {
  ASSERT_EQ(interval.has_value(), !std::isnan(low)) << kind;
  if (!interval) return;
  const double tolerance = 1e-9 * (1 + std::abs(low) + std::abs(high));
  EXPECT_NEAR(interval->low, low, tolerance) << kind;
  EXPECT_NEAR(interval->high, high, tolerance) << kind;
}

// The first rows are R's example(wilcox.test): 0.46, at 95 % from 0.010 to 0.786.
TEST(PairedIntervals, AreThoseByDefinition) {
  for (const auto& row : reference::intervals) {
    EXPECT_NEAR(hodges_lehmann(row.values), row.hodges_lehmann, 1e-12);
    const auto interval = hodges_lehmann_interval(row.values, row.confidence);
    expect_interval(interval, row.low, row.high, "Hodges–Lehmann");
    EXPECT_EQ(interval ? interval->confidence : row.confidence, row.confidence);
    expect_interval(sign_interval(row.values, row.confidence), row.sign_low, row.sign_high, "sign");
    expect_interval(t_interval(row.values, row.confidence), row.t_low, row.t_high, "t");
  }
}

TEST(PairedIntervals, NeedEnoughValues) {
  const std::vector<double> five = {1, 2, 3, 4, 5};
  const std::vector<double> six = {1, 2, 3, 4, 5, 6};
  EXPECT_FALSE(hodges_lehmann_interval(five, 0.95));
  EXPECT_TRUE(hodges_lehmann_interval(six, 0.95));
  EXPECT_FALSE(sign_interval(five, 0.95));
  EXPECT_TRUE(sign_interval(six, 0.95));
  EXPECT_FALSE(t_interval(std::vector<double>{1}, 0.95));
  const std::vector<double> eight = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_TRUE(hodges_lehmann_interval(eight, 254.0 / 256));
  EXPECT_FALSE(hodges_lehmann_interval(eight, 0.993));
  EXPECT_FALSE(hodges_lehmann_interval({}, 0.95));
  EXPECT_FALSE(hodges_lehmann_interval(std::vector<double>(300, 1.0), 1));
}

TEST(PairedIntervals, OfEqualValuesHaveNoWidth) {
  const std::vector<double> equal(12, 0.1);
  EXPECT_EQ(hodges_lehmann(equal), 0.1);
  for (const auto& interval :
       {hodges_lehmann_interval(equal, 0.95), sign_interval(equal, 0.95), t_interval(equal, 0.95)}) {
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, 0.1);
    EXPECT_EQ(interval->high, 0.1);
  }
}

TEST(PairedIntervals, AreMirroredBySignsAndMovedByShifts) {
  NormalNoise noise(4);
  for (const std::size_t n : {7U, 8U, 40U, 250U}) {
    const std::vector<double> values = noise.draw(n, 0.2);
    std::vector<double> moved = values;
    for (double& value : moved) value += 10;
    EXPECT_EQ(hodges_lehmann(negated(values)), -hodges_lehmann(values));
    EXPECT_NEAR(hodges_lehmann(moved), hodges_lehmann(values) + 10, 1e-12);
    for (const auto interval : {hodges_lehmann_interval, sign_interval, t_interval}) {
      const auto plain = interval(values, 0.9);
      const auto mirrored = interval(negated(values), 0.9);
      ASSERT_TRUE(plain && mirrored);
      EXPECT_NEAR(mirrored->low, -plain->high, 1e-14);
      EXPECT_NEAR(mirrored->high, -plain->low, 1e-14);
      EXPECT_NEAR(interval(moved, 0.9)->low, plain->low + 10, 1e-12);
    }
  }
}

TEST(PairedIntervals, ExcludeZeroExactlyWhereTheTestRejects) {
  NormalNoise noise(5);
  int rejected = 0;
  for (int run = 0; run < 300; ++run) {
    const std::vector<double> values = noise.draw(static_cast<std::size_t>(6 + run % 40), 0.35);
    for (const double level : {0.05, 0.0107, 0.00195}) {
      const auto interval = hodges_lehmann_interval(values, 1 - level);
      const bool excludes = interval && (interval->low > 0 || interval->high < 0);
      EXPECT_EQ(excludes, signed_rank_p(values) <= level) << run << " " << level;
      rejected += excludes ? 1 : 0;
    }
  }
  EXPECT_GT(rejected, 100);
  EXPECT_LT(rejected, 800);
}

// Ten of forty differ from 0, all upwards: p is 0.002, but most pairs show no difference.
TEST(PairedIntervals, CountZerosForBothSides) {
  std::vector<double> values(40, 0.0);
  for (std::size_t i = 0; i < 10; ++i) values[i] = 1 + static_cast<double>(i);
  EXPECT_DOUBLE_EQ(signed_rank_p(values), 2.0 / 1024);
  EXPECT_EQ(hodges_lehmann_interval(values, 0.95)->low, 0);
}

// The true centre is covered at least as often as said; 4 standard errors are 2 %.
TEST(PairedIntervals, CoverTheCentre) {
  NormalNoise noise(6);
  for (const std::size_t n : {8U, 40U}) {
    int covered = 0;
    for (int run = 0; run < 2000; ++run) {
      const auto interval = hodges_lehmann_interval(noise.draw(n, 1), 0.95);
      covered += interval->low <= 1 && 1 <= interval->high ? 1 : 0;
    }
    EXPECT_GE(covered, 2000 * 0.935) << n;
    EXPECT_LE(covered, 2000 * 0.975) << n;  // n = 8: 246 of 256, 96.1 %
  }
}

}  // namespace
}  // namespace infermeter::signed_rank_test
