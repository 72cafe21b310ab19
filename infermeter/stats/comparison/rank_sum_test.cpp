#include "infermeter/stats/comparison/rank_sum.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/fixtures/paired_reference.hpp"

namespace infermeter::rank_sum_test {
namespace {

TEST(RankSum, IsSciPysMannWhitney) {
  for (const auto& [first, second, p] : reference::rank_sum) {
    EXPECT_NEAR(rank_sum_p(first, second), p, 1e-9 * p) << first.size() << " " << second.size();
    EXPECT_NEAR(rank_sum_p(second, first), p, 1e-9 * p) << first.size() << " " << second.size();
  }
}

TEST(RankSum, OfSeparateSamplesIsOneOrderOfAll) {
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{6, 7, 8, 9}), 2.0 / 126);
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector<double>{1}, std::vector<double>{6}), 1);
}

TEST(RankSum, SaysNothingWithoutValuesOrDifferences) {
  EXPECT_EQ(rank_sum_p({}, std::vector<double>{1}), 1);
  EXPECT_EQ(rank_sum_p(std::vector<double>{1}, {}), 1);
  EXPECT_EQ(rank_sum_p(std::vector<double>(30, 2.0), std::vector<double>(25, 2.0)), 1);
}

}  // namespace
}  // namespace infermeter::rank_sum_test
