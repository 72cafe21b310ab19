#include "infermeter/fidelity/truth_quality.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace infermeter::truth_quality_test {
namespace {

Value floats(Shape shape, const std::vector<float>& elements) {
  return {
      Value::Kind::tensor, make_tensor<float>(DType::float32, std::move(shape), std::span<const float>(elements)), {}};
}

// 8 x 8: a ramp from 0 to 1, and the same with an error of 0.1 in one pixel.
struct Pictures {
  Pictures() {
    for (int i = 0; i < 64; ++i) truth.push_back(static_cast<float>(i) / 63.0F);
    image = truth;
    image[20] += 0.1F;
  }
  std::vector<float> truth, image;
  Shape shape = {1, 8, 8};
};

TEST(TruthQuality, IsOfTheFirstOutputThatIsLikeTheTruth) {
  const Pictures p;
  const std::vector<std::string> names = {"error", "truth", "other", "image"};
  const ItemValues outputs = {floats({3}, {1, 2, 3}), floats(p.shape, p.truth), floats({64}, p.image),
                              floats(p.shape, p.image)};
  const auto pair = truth_pair(names, outputs);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->truth, 1U);
  EXPECT_EQ(pair->judged, 3U);
}

TEST(TruthQuality, NeedsATruthAndSomethingLikeIt) {
  const Pictures p;
  const ItemValues outputs = {floats(p.shape, p.image), floats({64}, p.truth)};
  EXPECT_FALSE(truth_pair(std::vector<std::string>{"image", "original"}, outputs));
  EXPECT_FALSE(truth_pair(std::vector<std::string>{"image", "truth"}, outputs)) << "another shape";
  EXPECT_FALSE(truth_pair(std::vector<std::string>{"image", "x", "truth"}, outputs)) << "a name without an output";
}

TEST(TruthQuality, IsRelativeToTheTruth) {
  const Pictures p;
  const std::vector<ItemValues> items = {{floats(p.shape, p.image), floats(p.shape, p.truth)}};
  const TruthQuality quality = quality_against_truth({.truth = 1, .judged = 0}, items);
  EXPECT_NEAR(quality.mse.value_or(0), 0.01 / 64, 1e-8);
  EXPECT_NEAR(quality.psnr_db.value_or(0), 10 * std::log10(64 / 0.01), 1e-4);
  EXPECT_GT(quality.correlation.value_or(0), 0.99);
  EXPECT_LT(quality.correlation.value_or(1), 1);
  EXPECT_GT(quality.ssim.value_or(0), 0.5) << "of the last two dimensions";
  EXPECT_LT(quality.ssim.value_or(1), 1);
}

TEST(TruthQuality, OfAListHasNoSimilarityOfPictures) {
  const std::vector<ItemValues> items = {{floats({4}, {0, 1, 2, 3}), floats({4}, {0, 1, 2, 4})}};
  const TruthQuality quality = quality_against_truth({.truth = 1, .judged = 0}, items);
  EXPECT_FALSE(quality.ssim);
  EXPECT_NEAR(quality.mse.value_or(0), 0.25, 1e-9);
}

}  // namespace
}  // namespace infermeter::truth_quality_test
