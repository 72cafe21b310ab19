#include "infermeter/trial/load/answers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace infermeter {
namespace {

ItemValues floats(const std::vector<float>& numbers, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(numbers.size())};
  return {{.tensor = make_tensor<float>(DType::float32, std::move(shape), numbers)}};
}

TEST(Answers, DifferencesAreSharesOfTheLargestValue) {
  EXPECT_EQ(largest_difference(floats({1, -4}), floats({1, -4})), 0);
  EXPECT_EQ(largest_difference(floats({1, -4}), floats({2, -4})), 0.25);
  EXPECT_EQ(largest_difference(floats({0.0F}), floats({-0.0F})), 0);
  EXPECT_EQ(largest_difference(floats({NAN, 1}), floats({NAN, 1})), 0);
  EXPECT_TRUE(std::isinf(largest_difference(floats({NAN, 1}), floats({0, 1}))));
  EXPECT_TRUE(std::isinf(largest_difference(floats({1, 2}, {2}), floats({1, 2}, {1, 2}))));
  EXPECT_TRUE(std::isinf(largest_difference(floats({0, 0}), floats({0, 1}))));
  EXPECT_TRUE(std::isinf(largest_difference(floats({1}), {})));
}

TEST(Answers, EachIsComparedWithItsOwnItem) {
  Answers answers;
  answers.keep(0, floats({1, 2}));
  answers.keep(1, floats({3, 4}));
  answers.keep(0, floats({1, 1}));
  answers.keep(1, floats({3, 4}, {2, 1}));
  LoadRecord load;
  answers.check(0, floats({1, 2}), load);
  EXPECT_EQ(load.checked, 2U);
  EXPECT_EQ(load.largest_difference, 0.5);
  EXPECT_EQ(load.mismatched, 0U);
  answers.check(1, floats({3, 4}), load);
  EXPECT_EQ(load.checked, 4U);
  EXPECT_EQ(load.mismatched, 1U);
  answers.check(0, floats({9, 9}), load);
  EXPECT_EQ(load.checked, 4U) << "they are gone";
}

}  // namespace
}  // namespace infermeter
