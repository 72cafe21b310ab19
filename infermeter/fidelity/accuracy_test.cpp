#include "infermeter/fidelity/accuracy.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::accuracy_test {
namespace {

using testing::HasSubstr;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Tensor scores(Shape shape, const std::vector<float>& values) {
  return make_tensor<float>(DType::float32, std::move(shape), values);
}
Tensor mask(Shape shape, const std::vector<std::int32_t>& values) {
  return make_tensor<std::int32_t>(DType::int32, std::move(shape), values);
}

LabelAccuracy labels_of(const Tensor& tensor, const std::vector<int>& labels) {
  AccuracyTally tally;
  const auto done = tally.add(tensor, labels);
  EXPECT_TRUE(done.ok()) << done.error().message;
  return tally.accuracy().labels.value_or(LabelAccuracy{});
}

std::string error_of(const Tensor& tensor, const std::vector<int>& labels) {
  AccuracyTally tally;
  const auto done = tally.add(tensor, labels);
  EXPECT_FALSE(tally.accuracy().labels);
  return done.ok() ? std::string() : done.error().message;
}

std::string mask_error_of(const Tensor& output, const Tensor& truth) {
  AccuracyTally tally;
  const auto done = tally.add_mask(output, truth);
  EXPECT_FALSE(tally.accuracy().masks);
  return done.ok() ? std::string() : done.error().message;
}

TEST(Accuracy, CountsRowsThatAreRight) {
  AccuracyTally tally;
  ASSERT_TRUE(tally.add(scores({2, 3}, {1, 3, 2, 5, 4, 6}), std::vector<int>{1, 0}).ok());
  ASSERT_TRUE(tally.add(scores({3, 3}, {1, 3, 2, 5, 4, 6, 9, 8, 7}), std::vector<int>{1, ignored_label, 2}).ok());
  const LabelAccuracy& sum = *tally.accuracy().labels;
  EXPECT_EQ(sum.rows, 4U);
  EXPECT_EQ(sum.top1, 2U);
  EXPECT_EQ(sum.top1_share(), 0.5);
  EXPECT_EQ(tally.accuracy().share(), 0.5);
  EXPECT_FALSE(sum.top5) << "there are no more than five classes";
  EXPECT_FALSE(sum.top5_share());
  ASSERT_EQ(sum.classes.size(), 3U);
  EXPECT_EQ(sum.classes[0].label, 0);
  EXPECT_EQ(sum.classes[0].right, 0U);
  EXPECT_EQ(sum.classes[1].rows, 2U);
  EXPECT_EQ(sum.classes[1].right, 2U);
  EXPECT_EQ(sum.classes[2].label, 2);
  EXPECT_EQ(tally.right(), (std::vector<bool>{true, false, true, false}));
}

TEST(Accuracy, TheFirstOfEqualScoresCounts) {
  EXPECT_EQ(labels_of(scores({1, 3}, {2, 2, 1}), {0}).top1, 1U);
  EXPECT_EQ(labels_of(scores({1, 3}, {2, 2, 1}), {1}).top1, 0U);
}

TEST(Accuracy, NanCountsAsTheLargest) {
  EXPECT_EQ(labels_of(scores({1, 3}, {2, nan, nan}), {1}).top1, 1U);
  EXPECT_EQ(labels_of(scores({1, 3}, {2, nan, nan}), {2}).top1, 0U);
  EXPECT_EQ(labels_of(scores({1, 3}, {2, nan, 9}), {2}).top1, 0U);
}

TEST(Accuracy, AmongTheFiveLargest) {
  const Tensor row = scores({1, 7}, {7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(labels_of(row, {4}).top5, 1U);
  EXPECT_EQ(labels_of(row, {5}).top5, 0U);
  EXPECT_EQ(labels_of(row, {5}).top5_share(), 0.0);
  const Tensor equal = scores({1, 6}, {1, 1, 1, 1, 1, 1});
  EXPECT_EQ(labels_of(equal, {4}).top5, 1U);
  EXPECT_EQ(labels_of(equal, {5}).top5, 0U);
}

TEST(Accuracy, WithoutRowsThereIsNone) {
  EXPECT_FALSE(labels_of(scores({1, 3}, {1, 2, 3}), {ignored_label}).top1_share());
  EXPECT_FALSE(labels_of(scores({0, 3}, {}), {}).top1_share());
  EXPECT_FALSE(Accuracy{}.share());
}

TEST(Accuracy, SaysWhatDoesNotFit) {
  const Tensor two = scores({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(error_of(two, {0}), HasSubstr("there are 1 labels for 2 rows"));
  EXPECT_THAT(error_of(two, {0, 3}), HasSubstr("label 3 is not a class: the output has scores for classes 0 to 2"));
  EXPECT_THAT(error_of(two, {0, -2}), HasSubstr("label -2 is not a class"));
  EXPECT_THAT(error_of(scores({2, 1}, {1, 2}), {0, 0}), HasSubstr("[rows, classes] with two classes or more"));
  EXPECT_THAT(error_of(scores({4}, {1, 2, 3, 4}), {0}), HasSubstr("[rows, classes]"));
  EXPECT_THAT(error_of(scores({1, 2, 2}, {1, 2, 3, 4}), {0}), HasSubstr("[rows, classes]"));
  EXPECT_THAT(error_of({DType::float32, {2, 3}, {}, {}}, {0, 0}), HasSubstr("does not fit"));
  EXPECT_THAT(error_of({DType::string, {1, 2}, {}, {"a", "b"}}, {0}), HasSubstr("is of string"));
  AccuracyTally tally;
  ASSERT_TRUE(tally.add(two, std::vector<int>{0, 0}).ok());
  EXPECT_THAT(tally.add(scores({1, 2}, {1, 2}), std::vector<int>{0}).error().message,
              HasSubstr("scores for 2 classes, but for 3 before"));
  EXPECT_EQ(tally.accuracy().labels->rows, 2U);
}

// sklearn.metrics.jaccard_score and f1_score with average=None on the same pixels.
TEST(Accuracy, MasksHaveOverlaps) {
  AccuracyTally tally;
  ASSERT_TRUE(tally.add_mask(scores({1, 3, 2, 2}, {9, 0, 0, 9, 1, 5, 1, 1, 2, 2, 5, 2}), mask({1, 2, 2}, {0, 1, 1, 0}))
                  .ok());  // predicted 0 1 / 2 0
  ASSERT_TRUE(
      tally.add_mask(scores({1, 3, 2, 1}, {1, 1, 1, 1, 2, nan}), mask({1, 2, 1}, {ignored_label, 1})).ok());  // 2 / 2
  const MaskAccuracy& sum = *tally.accuracy().masks;
  EXPECT_EQ(sum.pixels, 5U);
  EXPECT_EQ(sum.right, 3U);
  EXPECT_EQ(tally.accuracy().share(), 0.6);
  ASSERT_EQ(sum.classes.size(), 3U);
  EXPECT_EQ(sum.classes[0].iou(), 1.0);
  EXPECT_DOUBLE_EQ(*sum.classes[1].iou(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(*sum.classes[1].dice(), 2.0 / 4);
  EXPECT_EQ(sum.classes[2].iou(), 0.0);
  EXPECT_EQ(sum.classes[2].truth, 0U);
  EXPECT_EQ(sum.classes[2].predicted, 2U);
  EXPECT_DOUBLE_EQ(*sum.mean_iou(), (1.0 + 1.0 / 3 + 0) / 3);
  EXPECT_DOUBLE_EQ(*sum.mean_dice(), (1.0 + 0.5 + 0) / 3);
  EXPECT_TRUE(tally.right().empty());
}

TEST(Accuracy, ManyPixelsAndRowsAreReadInParts) {
  constexpr std::int64_t side = 70;  // 4900 pixels: more than a chunk
  std::vector<float> values;
  std::vector<std::int32_t> truth;
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t label = 0; label < 3; ++label) {
      for (std::int64_t i = 0; i < side * side; ++i) values.push_back((i + row) % 3 == label ? 1.0F : 0.0F);
    }
    for (std::int64_t i = 0; i < side * side; ++i) truth.push_back(static_cast<std::int32_t>(i % 3));
  }
  AccuracyTally tally;
  ASSERT_TRUE(tally.add_mask(scores({2, 3, side, side}, values), mask({2, side, side}, truth)).ok());
  EXPECT_EQ(tally.accuracy().masks->pixels, 9800U);
  EXPECT_EQ(tally.accuracy().masks->right, 4900U);
}

TEST(Accuracy, AnOutputMayBeTheClassesThemselves) {
  AccuracyTally tally;
  const Tensor map = make_tensor<std::int64_t>(DType::int64, {1, 4}, std::vector<std::int64_t>{0, 7, 7, 1});
  ASSERT_TRUE(tally.add_mask(map, mask({1, 4}, {0, 7, 1, -1})).ok());
  EXPECT_EQ(tally.accuracy().masks->right, 2U);
  EXPECT_EQ(tally.accuracy().masks->pixels, 3U);
  EXPECT_EQ(tally.accuracy().masks->classes.size(), 3U);
}

TEST(Accuracy, MasksThatDoNotFit) {
  const Tensor two = scores({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(mask_error_of(two, mask({1, 2}, {0, 2})), HasSubstr("label 2 is not a class"));
  EXPECT_THAT(mask_error_of(two, mask({1, 2}, {0, -2})), HasSubstr("label -2 is not a class"));
  EXPECT_THAT(mask_error_of(two, mask({1, 3}, {0, 0, 0})), HasSubstr("the mask has shape [1, 3], but"));
  EXPECT_THAT(mask_error_of(two, mask({2}, {0, 0})), HasSubstr("want one of [1, 2]"));
  EXPECT_THAT(mask_error_of(two, scores({1, 2}, {0, 1})), HasSubstr("a class per pixel as an integer"));
  EXPECT_THAT(mask_error_of(scores({1, 1, 2}, {0, 1}), mask({1, 2}, {0, 1})), HasSubstr("two classes or more"));
  EXPECT_THAT(mask_error_of(mask({1, 2}, {0, -1}), mask({1, 2}, {0, 1})), HasSubstr("the output has -1"));
  EXPECT_THAT(mask_error_of(mask({1, 2}, {0, 1}), mask({1, 2}, {0, -3})), HasSubstr("the mask has -3"));
  EXPECT_THAT(mask_error_of(two, {DType::int32, {1, 2}, {}, {}}),
              HasSubstr("the mask has a number of values that does not fit"));
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  const Tensor far = make_tensor<std::uint64_t>(DType::uint64, {1, 2}, std::vector<std::uint64_t>{0, huge});
  EXPECT_THAT(mask_error_of(far, far), HasSubstr("which is not a class"));
}

TEST(Accuracy, PairsOfRows) {
  const PairedRight paired = pair_right({true, true, false, false, true}, {true, false, true, false, true}).value();
  EXPECT_EQ(paired.both, 2U);
  EXPECT_EQ(paired.reference_only, 1U);
  EXPECT_EQ(paired.candidate_only, 1U);
  EXPECT_EQ(paired.neither, 1U);
  EXPECT_THAT(pair_right({true}, {}).error().message, HasSubstr("the reference has 1 with a label, the other 0"));
}

TEST(Accuracy, ScoresForAMaskAmongOutputs) {
  const auto value = [](Tensor tensor) { return Value{Value::Kind::tensor, std::move(tensor), {}}; };
  const Tensor truth = mask({1, 2}, {0, 1});
  const std::vector<Value> outputs = {value(scores({1, 2}, {0.5F, 0.9F})),  // how sure it is of each pixel
                                      value(scores({1, 1, 2}, {0, 0})),     // one class
                                      value(scores({1, 2, 2}, {0, 1, 1, 0})), value(mask({1, 2}, {0, 1}))};
  EXPECT_EQ(scores_for_mask(outputs, truth), 2U);
  EXPECT_EQ(scores_for_mask(std::span(outputs).last(1), truth), 0U);
  EXPECT_FALSE(scores_for_mask(std::span(outputs).first(2), truth));
}

TEST(Accuracy, ScoresAmongOutputs) {
  const auto value = [](Tensor tensor) { return Value{Value::Kind::tensor, std::move(tensor), {}}; };
  const std::vector<Value> outputs = {{Value::Kind::none, {}, {}},
                                      value(mask({2, 3}, {0, 0, 0, 0, 0, 0})),
                                      value(scores({2, 1}, {0, 0})),
                                      value(scores({2}, {0, 0})),
                                      value(scores({2, 2, 1}, {0, 0, 0, 0})),  // of tokens, and no classes
                                      value(scores({2, 4}, {0, 0, 0, 0, 0, 0, 0, 0})),
                                      value(scores({2, 3, 1}, {0, 0, 0, 0, 0, 0}))};
  EXPECT_EQ(scores_among(outputs, 2), 5U);
  EXPECT_FALSE(scores_among(outputs, 3));
}

}  // namespace
}  // namespace infermeter::accuracy_test
