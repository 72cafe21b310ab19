#include "infermeter/stats/summary/proportions.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "infermeter/stats/fixtures/proportions_reference.hpp"
#include "infermeter/stats/test_noise.hpp"

namespace infermeter::proportions_test {
namespace {

// Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method 3.
TEST(Proportions, WilsonAsPublished) {
  const auto holds = [](std::uint64_t successes, std::uint64_t trials, double low, double high) {
    const Interval interval = proportion_interval(successes, trials);
    EXPECT_NEAR(interval.low, low, 5e-5) << successes << "/" << trials;
    EXPECT_NEAR(interval.high, high, 5e-5) << successes << "/" << trials;
  };
  holds(81, 263, 0.2553, 0.3662);
  holds(15, 148, 0.0624, 0.1605);
  holds(0, 20, 0, 0.1611);
  holds(1, 29, 0.0061, 0.1718);
}

TEST(Proportions, WilsonAsReference) {
  for (const auto& r : reference::wilson) {
    const Interval interval = proportion_interval(r.successes, r.trials, r.confidence);
    EXPECT_NEAR(interval.low, r.low, 1e-12) << r.successes << "/" << r.trials;
    EXPECT_NEAR(interval.high, r.high, 1e-12) << r.successes << "/" << r.trials;
    EXPECT_EQ(interval.confidence, r.confidence);
  }
  EXPECT_EQ(proportion_interval(0, 7).low, 0);
  EXPECT_EQ(proportion_interval(7, 7).high, 1);
}

// Newcombe (1998), "Improved confidence intervals … based on paired data", table II: 36, 12, 2, 0 is 0.0569 … 0.3404 of
// the first less the second. Fagerland, Lydersen & Laake (2014), of Bentur et al. (2009): 1, 1, 7, 12 is -0.507 …
// -0.026; there φ is positive, and without the correction (method 8) it would be -0.502 … -0.036.
TEST(Proportions, NewcombeAsPublished) {
  const auto paired = compare_paired(36, 12, 2, 0);
  EXPECT_NEAR(paired.difference, -0.2, 1e-15);
  EXPECT_NEAR(paired.interval.low, -0.3404, 5e-5);
  EXPECT_NEAR(paired.interval.high, -0.0569, 5e-5);
  const auto corrected = compare_paired(1, 1, 7, 12);
  EXPECT_NEAR(corrected.interval.low, 0.026, 5e-4);
  EXPECT_NEAR(corrected.interval.high, 0.507, 5e-4);
}

// Fagerland, Lydersen & Laake (2013), table 1 (Bentur et al. 2009): mid-p 0.039, the exact test 0.070, the asymptotic
// one 0.034.
TEST(Proportions, McNemarAsPublished) {
  EXPECT_NEAR(compare_paired(1, 1, 7, 12).p_value, 0.0390625, 1e-12);
  EXPECT_EQ(compare_paired(3, 4, 4, 3).p_value, 1);
  EXPECT_EQ(compare_paired(5, 0, 0, 2).p_value, 1);
}

TEST(Proportions, PairedAsReference) {
  for (const auto& r : reference::paired) {
    const auto paired = compare_paired(r.both, r.first_only, r.second_only, r.neither, r.confidence);
    const auto where = testing::Message() << r.both << " " << r.first_only << " " << r.second_only << " " << r.neither;
    EXPECT_NEAR(paired.difference, r.difference, 1e-14) << where;
    EXPECT_NEAR(paired.interval.low, r.low, 1e-11) << where;
    EXPECT_NEAR(paired.interval.high, r.high, 1e-11) << where;
    EXPECT_NEAR(paired.p_value, r.p, 1e-9 * r.p + 1e-300) << where;
  }
}

// The second is what the difference is of: swapped, everything turns its sign, and nothing else changes.
TEST(Proportions, TurnsWithItsSides) {
  const auto one = compare_paired(760, 15, 3, 222), other = compare_paired(760, 3, 15, 222);
  EXPECT_LT(one.difference, 0);
  EXPECT_DOUBLE_EQ(one.difference, -other.difference);
  EXPECT_NEAR(one.interval.low, -other.interval.high, 1e-15);
  EXPECT_EQ(one.p_value, other.p_value);
}

struct Covered {
  double paired = 0, unpaired = 0, rejected = 0;  // shares of the simulations
  double width_ratio = 0;                         // of the intervals without pairs to those with them
};

// Draws of a table with the given probabilities: is the truth inside?
Covered simulate(std::array<double, 3> shares, int rows, std::uint64_t seed) {
  constexpr int repetitions = 4000;
  const double truth = shares[2] - shares[1];
  SplitMix random(seed);
  Covered covered;
  for (int i = 0; i < repetitions; ++i) {
    std::array<std::uint64_t, 4> table{};
    for (int row = 0; row < rows; ++row) {
      double left = random.uniform();
      std::size_t cell = 0;
      while (cell < 3 && left >= shares[cell]) left -= shares[cell++];
      ++table[cell];
    }
    const auto holds = [&](const Interval& interval) { return interval.low <= truth && truth <= interval.high; };
    const auto paired = compare_paired(table[0], table[1], table[2], table[3]);
    covered.paired += holds(paired.interval);
    covered.rejected += paired.p_value < 0.05;
    // As if the rows of the two were others: what ignores the pairs.
    const auto n = static_cast<double>(rows);
    const double p = static_cast<double>(table[0] + table[1]) / n, q = static_cast<double>(table[0] + table[2]) / n;
    const double half = 1.96 * std::sqrt(p * (1 - p) / n + q * (1 - q) / n);
    covered.unpaired += holds({q - p - half, q - p + half});
    covered.width_ratio += 2 * half / (paired.interval.high - paired.interval.low);
  }
  for (double* share : {&covered.paired, &covered.unpaired, &covered.rejected, &covered.width_ratio}) {
    *share /= repetitions;
  }
  return covered;
}

// Two classifiers that mostly agree, as models and their quantised copies do. The interval covers at least what it
// promises (it is known to be a little wide where they nearly always agree), and is far from the one that ignores
// pairs.
TEST(Proportions, CoversItsShareOfTruths) {
  const Covered equal = simulate({0.72, 0.04, 0.04}, 500, 1);
  EXPECT_GT(equal.paired, 0.94);
  EXPECT_LT(equal.paired, 0.985);
  EXPECT_LT(equal.rejected, 0.06);
  EXPECT_GT(equal.rejected, 0.03);
  EXPECT_GT(equal.unpaired, 0.99);
  EXPECT_GT(equal.width_ratio, 1.6);
  const Covered worse = simulate({0.70, 0.08, 0.02}, 300, 2);
  EXPECT_GT(worse.paired, 0.94);
  EXPECT_LT(worse.paired, 0.985);
  EXPECT_GT(worse.rejected, 0.8);
  const Covered rare = simulate({0.75, 0.01, 0.004}, 1000, 3);
  EXPECT_GT(rare.paired, 0.94);
}

}  // namespace
}  // namespace infermeter::proportions_test
