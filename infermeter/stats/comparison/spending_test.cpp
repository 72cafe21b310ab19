#include "infermeter/stats/comparison/spending.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/fixtures/paired_reference.hpp"

namespace infermeter::spending_test {
namespace {

const std::vector<int> five_looks = {8, 16, 24, 32, 40};

// As O'Brien & Fleming spend; the last of `counts`, if `is_final`, all that is left.
std::vector<double> levels_at(double alpha, std::span<const int> counts, int planned, bool is_final) {
  std::vector<double> spent;
  for (const int count : counts)
    spent.push_back(spent_alpha(alpha, std::min(1.0, static_cast<double>(count) / planned)));
  if (is_final && !spent.empty()) spent.back() = alpha;
  return spending_levels(counts, spent);
}

TEST(Spending, LevelsAreThoseOfDenseGrids) {
  for (const auto& row : reference::spending) {
    const std::vector<double> levels = levels_at(row.alpha, row.counts, row.planned, row.is_final);
    ASSERT_EQ(levels.size(), row.levels.size());
    for (std::size_t k = 0; k < levels.size(); ++k) EXPECT_NEAR(levels[k] / row.levels[k], 1, 1e-9) << row.counts[k];
  }
}

// Without the earlier looks taken into account the last level would be what is added, 0.0256.
TEST(Spending, OfFiveEqualLooksIsKnown) {
  const std::vector<double> levels = levels_at(0.05, five_looks, 40, false);
  const std::vector<double> known = {1.17264e-5, 0.00193699, 0.0106691, 0.0242057, 0.039065};
  for (std::size_t k = 0; k < known.size(); ++k) EXPECT_NEAR(levels[k] / known[k], 1, 1e-5);
}

TEST(Spending, FunctionRunsFromNothingToAll) {
  EXPECT_EQ(spent_alpha(0.05, 1), 0.05);
  EXPECT_LT(spent_alpha(0.05, 0.01), 1e-80);
  EXPECT_NEAR(spent_alpha(0.05, 0.5), 0.005574596680784, 1e-12);  // 2 * norm.sf(norm.isf(0.025) / 0.5**0.5)
}

TEST(Spending, LevelsOfEarlierLooksDoNotDependOnLaterOnes) {
  const std::vector<double> all = levels_at(0.05, five_looks, 40, false);
  for (std::size_t k = 1; k <= all.size(); ++k) {
    const std::vector<double> some = levels_at(0.05, std::span(five_looks).first(k), 40, false);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << k;
  }
}

// What the step-down test of several candidates rests on (Maurer & Bretz 2013): a larger share never lowers a level.
TEST(Spending, LevelsGrowWithAlphaAndFromLookToLook) {
  std::vector<double> before(five_looks.size(), 0.0);
  for (const double alpha : {0.0005, 0.001, 0.01, 0.05 / 3, 0.025, 0.05, 0.1, 0.2}) {
    const std::vector<double> levels = levels_at(alpha, five_looks, 40, false);
    EXPECT_TRUE(std::ranges::is_sorted(levels)) << alpha;
    EXPECT_LT(levels.back(), alpha);
    for (std::size_t k = 0; k < levels.size(); ++k) EXPECT_GT(levels[k], before[k]) << alpha << " " << k;
    before = levels;
  }
}

TEST(Spending, LastLookSpendsAllThatIsLeft) {
  EXPECT_NEAR(levels_at(0.05, std::vector<int>{8}, 40, true)[0], 0.05, 1e-14);
  const double early = levels_at(0.05, std::vector<int>{8, 16, 24}, 40, true)[2];
  EXPECT_GT(early, levels_at(0.05, std::vector<int>{8, 16, 24}, 40, false)[2]);
  EXPECT_LT(early, 0.05);
  EXPECT_EQ(levels_at(0.05, five_looks, 40, true), levels_at(0.05, five_looks, 40, false));
  // Beyond the plan nothing is left.
  EXPECT_EQ(levels_at(0.05, std::vector<int>{40, 48}, 40, false)[1], 0);
}

TEST(Spending, ManyAndVeryCloseLooksAreHandled) {
  std::vector<int> looks;
  for (int pairs = 8; pairs <= 400; pairs += 8) looks.push_back(pairs);
  const std::vector<double> levels = levels_at(0.05, looks, 400, false);
  EXPECT_TRUE(std::ranges::is_sorted(levels));
  EXPECT_GT(levels.back(), 0.02);
  EXPECT_LT(levels.back(), 0.05);
  for (const double level : levels_at(0.05, std::vector<int>{9'998, 9'999, 10'000}, 10'000, true)) {
    EXPECT_GT(level, 0.0468);
    EXPECT_LE(level, 0.05);
  }
  EXPECT_TRUE(levels_at(0.05, {}, 40, true).empty());
}

}  // namespace
}  // namespace infermeter::spending_test
