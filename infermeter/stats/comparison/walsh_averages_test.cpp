#include "infermeter/stats/comparison/walsh_averages.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/test_normal.hpp"

namespace infermeter::walsh_averages_test {
namespace {

std::vector<double> averages_of(const std::vector<double>& values) {
  std::vector<double> averages;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
  }
  std::ranges::sort(averages);
  return averages;
}

TEST(WalshAverages, AreAllMeansOfTwo) {
  const WalshAverages averages(std::vector<double>{4, 0, 1});
  ASSERT_EQ(averages.size(), 6U);
  const std::vector<double> expected = {0, 0.5, 1, 2, 2.5, 4};
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(averages.smallest(k), expected[k]) << k;
  EXPECT_EQ(WalshAverages().size(), 0U);
}

TEST(WalshAverages, AreCountedUpToABound) {
  const WalshAverages averages(std::vector<double>{4, 0, 1});
  EXPECT_EQ(averages.up_to(-0.1), 0U);
  EXPECT_EQ(averages.up_to(0), 1U);
  EXPECT_EQ(averages.up_to(2), 4U);  // the bound counts
  EXPECT_EQ(averages.up_to(3.9), 5U);
  EXPECT_EQ(averages.up_to(std::numeric_limits<double>::infinity()), 6U);
  EXPECT_EQ(averages.up_to(-std::numeric_limits<double>::infinity()), 0U);
}

TEST(WalshAverages, OfValuesAddedOneByOneAreThoseOfAll) {
  NormalNoise noise(12);
  const std::vector<double> values = noise.draw(60, 1);
  WalshAverages added;
  for (std::size_t n = 1; n <= values.size(); ++n) {
    added.add(values[n - 1]);
    const auto expected = averages_of({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n)});
    ASSERT_EQ(added.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); k += 1 + expected.size() / 7) {
      EXPECT_EQ(added.smallest(k), expected[k]) << n;
      EXPECT_EQ(added.up_to(expected[k]), k + 1) << n;
    }
  }
}

// Two far clusters: the bound in the middle lies between the averages of one and those of both.
TEST(WalshAverages, TwoNeighboursAreFoundOnBothSidesOfABound) {
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) values.push_back(-100 + 0.25 * i);
  for (int i = 0; i < 5; ++i) values.push_back(103 - 0.25 * i);
  const WalshAverages averages(values);
  const std::vector<double> expected = averages_of(values);
  for (std::size_t k = 0; k + 1 < expected.size(); ++k) {
    const auto [first, second] = averages.smallest(k, k + 1);
    EXPECT_EQ(first, expected[k]) << k;
    EXPECT_EQ(second, expected[k + 1]) << k;
  }
}

// Of values that are coarse, so that averages are equal; of half of them and their opposites, so that the median lies
// in a gap about 0, where halving has its first bound.
TEST(WalshAverages, OfARankAreThoseOfTheSortedList) {
  NormalNoise noise(9);
  for (std::size_t n = 1; n <= 80; ++n) {
    for (const double step : {0.0, 0.5, 3.0}) {
      std::vector<double> values = noise.draw(n, 1);
      for (double& value : values) value = step > 0 ? std::round(value / step) * step : value;
      std::vector<double> mirrored = values;
      for (const double value : values) mirrored.push_back(-value);
      for (const auto& drawn : {values, mirrored}) {
        const std::vector<double> averages = averages_of(drawn);
        const std::size_t upper = averages.size() / 2;
        const double median = averages.size() % 2 == 1 ? averages[upper] : (averages[upper - 1] + averages[upper]) / 2;
        EXPECT_EQ(hodges_lehmann(drawn), median) << n << " values by " << step;
        const std::size_t k = signed_ranks_within(drawn.size(), 0.05);
        if (k == 0) continue;
        const auto interval = hodges_lehmann_interval(drawn, 0.9);
        EXPECT_EQ(interval->low, averages[k - 1]) << n << " values by " << step;
        EXPECT_EQ(interval->high, averages[averages.size() - k]) << n << " values by " << step;
      }
    }
  }
}

}  // namespace
}  // namespace infermeter::walsh_averages_test
