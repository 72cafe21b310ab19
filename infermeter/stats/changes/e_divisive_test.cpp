#include "infermeter/stats/changes/e_divisive.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/changes/test_e_divisive.hpp"
#include "infermeter/stats/test_series.hpp"

namespace infermeter::e_divisive_test {
namespace {

std::vector<Division> divide(const std::vector<double>& values, const DivisiveOptions& options = {}) {
  return e_divisive(values, std::array<std::size_t, 2>{0, values.size()}, options);
}

std::vector<std::size_t> indices_of(const std::vector<Division>& divisions) {
  std::vector<std::size_t> indices;
  for (const Division& division : divisions) indices.push_back(division.index);
  return indices;
}

TEST(EDivisive, FindsWhatAPlainImplementationFinds) {
  const std::vector<DivisiveCase> cases = divisive_cases();
  EXPECT_EQ(cases.size(), 7u);
  for (const DivisiveCase& c : cases) EXPECT_EQ(indices_of(divide(c.values)), c.points) << c.name;
}

TEST(EDivisive, PIsThatOfAPlainImplementation) {
  for (const DivisiveCase& c : divisive_cases()) {
    const auto p = e_divisive_p(c.values, {.alpha = 1, .permutations = 1999});
    ASSERT_TRUE(p) << c.name;
    EXPECT_NEAR(*p, c.p, 4 * std::sqrt(c.p * (1 - c.p) / 1999) + 1.0 / 1999) << c.name;
  }
}

TEST(EDivisive, CountsTheSeriesItselfAmongItsPermutations) {
  std::vector<double> values = Noise(1).independent(40, 0.001);
  raise(values, 20, 40, 1);
  ASSERT_EQ(divide(values).size(), 1u);
  EXPECT_EQ(divide(values)[0].p, 1.0 / 200);
  // With so few permutations no p reaches 1 %.
  EXPECT_TRUE(divide(values, {.permutations = 98}).empty());
  EXPECT_EQ(divide(values, {.permutations = 99}).size(), 1u);
}

TEST(EDivisive, LeavesKnownPointsOutOfWhatItFinds) {
  std::vector<double> values = Noise(2).independent(60, 0.005);
  raise(values, 20, 60, 0.03);
  raise(values, 40, 60, 0.03);
  EXPECT_EQ(indices_of(divide(values)), (std::vector<std::size_t>{20, 40}));
  EXPECT_EQ(indices_of(e_divisive(values, std::array<std::size_t, 3>{0, 20, 60}, {})), std::vector<std::size_t>{40});
}

TEST(EDivisive, SeesAChangeOfSpread) {
  Noise noise(3);
  std::vector<double> values = noise.independent(60, 0.001);
  const std::vector<double> wild = noise.independent(60, 0.02);
  values.insert(values.end(), wild.begin(), wild.end());
  ASSERT_EQ(divide(values).size(), 1u);
  EXPECT_NEAR(static_cast<double>(divide(values)[0].index), 60, 3);
}

TEST(EDivisive, FindsNothingInEqualOrTooFewValues) {
  EXPECT_TRUE(divide(std::vector<double>(50, -3.5)).empty());
  EXPECT_TRUE(divide({1, 1, 1, 9, 9}).empty());
  EXPECT_TRUE(divide({}).empty());
  EXPECT_FALSE(e_divisive_p(std::vector<double>(50, -3.5), {}));
}

// At 1 %, alone and unaware of what is known of φ: single values give 35 %, and blocks of the right length 4 %.
TEST(EDivisiveSimulation, BlocksKeepAutocorrelationFromPassingForChanges) {
  Noise noise(4);
  int single = 0, blocks = 0;
  constexpr int runs = 400;
  for (int run = 0; run < runs; ++run) {
    const std::vector<double> values = noise.autoregressive(50, 0.5, 0.01);
    single += divide(values).empty() ? 0 : 1;
    blocks += divide(values, {.block = block_length(0.5, 50)}).empty() ? 0 : 1;
  }
  EXPECT_GT(single, runs * 0.20);
  EXPECT_LT(blocks, runs * 0.06);
}

// (2 · 0.5/0.75)^(2/3) · 50^(1/3) = 4.46
TEST(EDivisive, BlockLengthIsCarlsteins) {
  EXPECT_EQ(block_length(0.5, 50), 5u);
  EXPECT_EQ(block_length(0.5, 10'000), 27u);
  EXPECT_EQ(block_length(0, 50), 1u);
  EXPECT_EQ(block_length(-0.5, 50), 1u);
  EXPECT_EQ(block_length(0.95, 50), 8u);  // a sixth
  EXPECT_EQ(block_length(0.95, 3), 1u);
}

}  // namespace
}  // namespace infermeter::e_divisive_test
