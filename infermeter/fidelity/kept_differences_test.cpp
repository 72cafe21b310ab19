#include "infermeter/fidelity/kept_differences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace infermeter::kept_differences_test {
namespace {

constexpr std::size_t side = 8;

Value image(float value, float at_5 = 0) {
  std::vector<float> values(side * side, value);
  values[5] += at_5;
  return {.kind = Value::Kind::tensor,
          .tensor = make_tensor<float>(DType::float32, {1, 1, side, side}, values),
          .elements = {}};
}

Value scores() {
  const std::vector<float> values(10, 1);
  return {.kind = Value::Kind::tensor, .tensor = make_tensor<float>(DType::float32, {1, 10}, values), .elements = {}};
}

TEST(KeptDifferences, TheWorstItemsOfEachImage) {
  KeptDifferences kept(2);
  const std::vector<float> errors = {0.5F, 3, 1, 3, 2};
  for (std::size_t item = 0; item < errors.size(); ++item) {
    const std::vector<Value> reference = {scores(), image(1)}, candidate = {scores(), image(1, errors[item])};
    kept.add(item, reference, candidate);
  }
  ASSERT_EQ(kept.outputs().size(), 1U);
  const auto& output = kept.outputs().at(1);  // the scores are no image
  ASSERT_EQ(output.worst.size(), 2U);
  EXPECT_EQ(output.worst[0].item, 1U);
  EXPECT_EQ(output.worst[1].item, 3U);
  EXPECT_EQ(output.worst[0].max_absolute, 3);
  EXPECT_EQ(output.worst[0].candidate.as<float>()[5], 4);
  EXPECT_EQ(output.histogram.equal, 5 * (side * side - 1));
}

TEST(KeptDifferences, OneThatIsNoNumberIsTheWorst) {
  KeptDifferences kept(1);
  const std::vector<Value> reference = {image(1)}, large = {image(1, 100)};
  const std::vector<Value> strange = {image(1, std::numeric_limits<float>::quiet_NaN())};
  kept.add(0, reference, large);
  kept.add(1, reference, strange);
  EXPECT_EQ(kept.outputs().at(0).worst[0].item, 1U);
  EXPECT_EQ(kept.outputs().at(0).histogram.non_finite, 1U);
  constexpr float inf = std::numeric_limits<float>::infinity();
  KeptDifferences of_infinities(1);
  of_infinities.add(0, std::vector<Value>{image(inf)}, std::vector<Value>{image(-inf)});
  EXPECT_TRUE(std::isinf(of_infinities.outputs().at(0).worst[0].max_absolute));
}

TEST(KeptDifferences, WhatCannotBeComparedIsLeftOut) {
  KeptDifferences kept(1);
  const std::vector<Value> reference = {image(1), image(1)}, candidate = {scores()};
  kept.add(0, reference, candidate);
  EXPECT_TRUE(kept.outputs().empty());
}

TEST(ErrorHistogram, TenStepsToADecade) {
  ErrorHistogram histogram;
  histogram.add(0, 1.01e-12);
  histogram.add(0, -1.05);  // decade 0, step 0
  histogram.add(5, 5 + 9.9);
  histogram.add(0, 1e-30);  // below the first
  histogram.add(0, 1e30);
  EXPECT_EQ(histogram.counts[0], 2U);
  EXPECT_EQ(histogram.counts[120], 1U);
  EXPECT_EQ(histogram.counts[129], 1U);
  EXPECT_EQ(histogram.counts.back(), 1U);
  EXPECT_EQ(histogram.counts.size(), 180U);
}

}  // namespace
}  // namespace infermeter::kept_differences_test
