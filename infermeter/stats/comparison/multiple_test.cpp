#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/comparison/sequential.hpp"

namespace infermeter::multiple_test {
namespace {

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-15) << i;
}

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") and "BH"
TEST(Multiple, IsRsPAdjust) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  expect_near(holm(p), {0.03, 0.06, 0.06, 0.02});  // Bonferroni: 0.04, 0.16, 0.12, 0.02
  expect_near(benjamini_hochberg(p), {0.02, 0.04, 0.04, 0.02});
}

// scipy.stats.false_discovery_control([0.9, 0.02, 0.02, 0.5, 0.6])
TEST(Multiple, KeepsWithinOneAndTreatsTiesAlike) {
  const std::vector<double> p = {0.9, 0.02, 0.02, 0.5, 0.6};
  expect_near(benjamini_hochberg(p), {0.9, 0.05, 0.05, 0.75, 0.75});
  expect_near(holm(p), {1, 0.1, 0.1, 1, 1});
}

TEST(Multiple, LeavesOneAlone) {
  expect_near(holm(std::vector<double>{0.03}), {0.03});
  expect_near(benjamini_hochberg(std::vector<double>{0.03}), {0.03});
  EXPECT_TRUE(holm({}).empty());
  EXPECT_TRUE(benjamini_hochberg({}).empty());
}

}  // namespace
}  // namespace infermeter::multiple_test
