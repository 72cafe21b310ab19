#include "infermeter/stats/changes/energy_split.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/changes/test_e_divisive.hpp"
#include "infermeter/stats/test_series.hpp"

namespace infermeter::energy_split_test {
namespace {

std::vector<std::uint32_t> as_they_come(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

EnergySplit best_split_of(const std::vector<double>& values) {
  return EnergyScan(values, 3).best_split(as_they_come(values.size()));
}

TEST(EnergySplit, IsWhatTheDefinitionSays) {
  for (const DivisiveCase& c : divisive_cases()) {
    const EnergySplit best = best_split_of(c.values);
    EXPECT_EQ(best.index, c.all_ends.index) << c.name;
    EXPECT_NEAR(best.q, c.all_ends.q, 1e-9 * c.all_ends.q) << c.name;
  }
}

double plain_q(const std::vector<double>& values, std::size_t split) {
  const std::size_t n = values.size();
  double before = 0, from = 0, across = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      (j < split ? before : i < split ? across : from) += std::abs(values[i] - values[j]);
    }
  }
  const auto m = static_cast<double>(split);
  const auto k = static_cast<double>(n - split);
  return m * k / (m + k) * (2 * across / (m * k) - 2 * before / (m * (m - 1)) - 2 * from / (k * (k - 1)));
}

TEST(EnergySplit, PlainFormulaOfThisTestIsTheDefinition) {
  for (const DivisiveCase& c : divisive_cases()) {
    EXPECT_NEAR(plain_q(c.values, c.whole_rest.index), c.whole_rest.q, 1e-9 * c.whole_rest.q) << c.name;
  }
}

TEST(EnergySplit, OfALongSeriesIsTheBestOfItsWholeRests) {
  Noise noise(5);
  std::vector<double> values = noise.independent(EnergyScan::kAllEnds + 44, 0.005);
  raise(values, 210, values.size(), 0.01);
  for (double& value : values) value = std::round(value * 1000) / 1000 - 5;  // with ties
  const EnergySplit best = best_split_of(values);
  double highest = 0;
  for (std::size_t split = 3; split + 3 <= values.size(); ++split) highest = std::max(highest, plain_q(values, split));
  EXPECT_NEAR(best.q, highest, 1e-9 * highest);
  EXPECT_NEAR(plain_q(values, best.index), highest, 1e-9 * highest);
  EXPECT_NEAR(static_cast<double>(best.index), 210, 2);
}

TEST(EnergySplit, ComparesABumpWithWhatWasBeforeIt) {
  std::vector<double> values = Noise(6).independent(100, 0.005);
  raise(values, 47, 53, 0.02);
  const EnergySplit best = best_split_of(values);
  EXPECT_EQ(best.index, 47u);
  EXPECT_GT(best.q, 5 * plain_q(values, 47));  // to the end of the series the bump is lost
}

TEST(EnergySplit, OfAnOrderIsThatOfTheValuesInThisOrder) {
  for (const std::size_t n : {20u, 300u}) {
    Noise noise(n);
    const std::vector<double> values = noise.independent(n, 1);
    std::vector<std::uint32_t> order = as_they_come(n);
    for (std::size_t i = n; i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(noise.uniform() * static_cast<double>(i))]);
    }
    std::vector<double> ordered(n);
    std::ranges::transform(order, ordered.begin(), [&](std::uint32_t i) { return values[i]; });
    const EnergySplit direct = best_split_of(ordered);
    const EnergySplit by_order = EnergyScan(values, 3).best_split(order);
    EXPECT_EQ(by_order.index, direct.index);
    EXPECT_NEAR(by_order.q, direct.q, 1e-9 * std::abs(direct.q));
  }
}

// Parts have three values at least: the first split that there may be, and the last.
TEST(EnergySplit, MayBeAsNearToAnEndAsPartsAreLong) {
  for (const std::size_t n : {std::size_t{40}, EnergyScan::kAllEnds + 20}) {
    for (const std::size_t at : {std::size_t{3}, n - 3}) {
      std::vector<double> values = Noise(7).independent(n, 0.001);
      raise(values, at, n, 1);
      EXPECT_EQ(best_split_of(values).index, at) << n;
    }
  }
}

TEST(EnergySplit, EqualValuesHaveNoEnergy) {
  EXPECT_EQ(best_split_of(std::vector<double>(10, -4.25)).q, 0);
  EXPECT_EQ(best_split_of(std::vector<double>(400, -4.25)).q, 0);
}

}  // namespace
}  // namespace infermeter::energy_split_test
