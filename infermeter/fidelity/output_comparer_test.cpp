#include "infermeter/fidelity/output_comparer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

namespace infermeter::output_comparer_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Optional;

Value floats(Shape shape, const std::vector<float>& values) {
  return {.tensor = make_tensor<float>(DType::float32, std::move(shape), std::span(values)), .elements = {}};
}

std::vector<ItemValues> rows(const std::vector<std::vector<float>>& items) {
  std::vector<ItemValues> result;
  for (const auto& item : items) result.push_back({floats({1, static_cast<std::int64_t>(item.size())}, item)});
  return result;
}

const std::vector<std::string> kNames = {"y"};

TEST(OutputComparer, PartsAddUpToTheWhole) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> a(7, std::vector<float>(100)), b = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < 100; ++j) a[i][j] = normal(random), b[i][j] = a[i][j] + normal(random) / 100;
  }
  const auto reference = rows(a), candidate = rows(b);
  const std::vector<Tolerance> tolerance = {{.relative = 0.01}};
  const OutputComparison whole = compare_outputs(kNames, reference, candidate, tolerance);
  OutputComparer comparer(kNames, tolerance);
  for (std::size_t i = 0; i < reference.size(); ++i) {
    comparer.add(std::span(reference).subspan(i, 1), std::span(candidate).subspan(i, 1));
  }
  const ComparedOutputs parts = comparer.result();
  EXPECT_EQ(parts.whole.items, 7U);
  EXPECT_EQ(parts.whole.outputs[0].max_absolute, whole.outputs[0].max_absolute);
  EXPECT_EQ(parts.whole.outputs[0].max_absolute_item, whole.outputs[0].max_absolute_item);
  EXPECT_DOUBLE_EQ(*parts.whole.outputs[0].rmse, *whole.outputs[0].rmse);
  EXPECT_DOUBLE_EQ(*parts.whole.outputs[0].pearson, *whole.outputs[0].pearson);
  EXPECT_EQ(parts.whole.outputs[0].allowed, whole.outputs[0].allowed);
  ASSERT_EQ(parts.samples.size(), 7U);
  EXPECT_EQ(parts.samples[3].item, 3U);
}

// The scale is that of all items: an item of small values is not compared with its own, also where it came first.
TEST(OutputComparer, SamplesAndTheWholeNeverContradict) {
  const auto reference = rows({{0.001F, 0}, {100, 0}, {1, 1}});
  const auto candidate = rows({{0.002F, 0}, {100, 0}, {1, 3}});
  OutputComparer comparer(kNames, std::vector<Tolerance>{{.relative = 0.01}});
  for (std::size_t i = 0; i < 2; ++i) {
    comparer.add(std::span(reference).subspan(i, 1), std::span(candidate).subspan(i, 1));
  }
  auto result = comparer.result();
  EXPECT_TRUE(result.whole.agree);
  EXPECT_TRUE(result.samples[0].within_tolerance);
  EXPECT_EQ(result.samples[0].mismatched, 0U);
  comparer.add(std::span(reference).subspan(2), std::span(candidate).subspan(2));
  result = comparer.result();
  EXPECT_FALSE(result.whole.agree);
  EXPECT_TRUE(result.samples[0].within_tolerance);
  EXPECT_FALSE(result.samples[2].within_tolerance);
  EXPECT_EQ(result.samples[2].mismatched, 1U);
  EXPECT_EQ(result.whole.outputs[0].mismatched, 1U);
  EXPECT_EQ(result.samples[2].max_absolute_index, 1U);
  EXPECT_EQ(result.samples[2].reference_at_max, 1);
  EXPECT_EQ(result.samples[2].candidate_at_max, 3);
}

TEST(OutputComparer, TheFloorIsBelowEveryTolerance) {
  const auto reference = rows({{1, 2}}), candidate = rows({{1, 2.5F}});
  EXPECT_FALSE(compare_outputs(kNames, reference, candidate, std::vector<Tolerance>{{.floor = 0.4}}).agree);
  const auto within = compare_outputs(kNames, reference, candidate, std::vector<Tolerance>{{.floor = 0.5}});
  EXPECT_TRUE(within.agree);
  EXPECT_EQ(within.outputs[0].allowed, 0.5);
}

TEST(OutputComparer, NotFiniteInOneIsBeyondEveryTolerance) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OutputComparer comparer(kNames, std::vector<Tolerance>{{.absolute = 1e9}});
  comparer.add(rows({{1, nan}, {nan, 1}}), rows({{1, nan}, {0, 1}}));
  const auto result = comparer.result();
  EXPECT_TRUE(result.samples[0].within_tolerance);
  EXPECT_FALSE(result.samples[1].within_tolerance);
  EXPECT_EQ(result.samples[1].mismatched, 1U);
  EXPECT_FALSE(result.whole.agree);
}

// sklearn.metrics.top_k_accuracy_score of the reference's argmax gives 1 for the first row and 0 for the second.
TEST(OutputComparer, Top5AgreementCountsTheFiveLargest) {
  OutputComparer comparer(kNames, std::vector<Tolerance>{{.absolute = 1e9}});
  comparer.add(rows({{9, 1, 2, 3, 4, 5, 6}, {9, 1, 2, 3, 4, 5, 6}}),
               rows({{5, 1, 9, 8, 7, 6, 0}, {5, 1, 9, 8, 7, 6, 5.5F}}));
  const auto output = comparer.result().whole.outputs[0];
  EXPECT_THAT(output.top1_agreement, Optional(0.0));
  EXPECT_THAT(output.top5_agreement, Optional(0.5));
  // Of equal scores those before it count as larger; five classes have no first five.
  const auto ties = compare_outputs(kNames, rows({{0, 0, 0, 0, 0, 1}}), rows({{1, 1, 1, 1, 1, 1}}), {});
  EXPECT_THAT(ties.outputs[0].top5_agreement, Optional(0.0));
  EXPECT_EQ(compare_outputs(kNames, rows({{1, 2, 3, 4, 5}}), rows({{1, 2, 3, 4, 5}}), {}).outputs[0].top5_agreement,
            std::nullopt);
}

// scipy.stats.entropy(scipy.special.softmax(r), scipy.special.softmax(c)) is 0.053808176 and 0.385412929 for the two
// rows.
TEST(OutputComparer, DivergenceIsTheMeanOverRows) {
  OutputComparer comparer(kNames, std::vector<Tolerance>{{.absolute = 1e9}});
  comparer.add(rows({{1, 2, 3}, {0, 0, 1.5F}}), rows({{2, 2, 3}, {0, 0.5F, 0}}));
  EXPECT_THAT(comparer.result().whole.outputs[0].kl_divergence, Optional(DoubleNear(0.219610552449, 1e-7)));
  // Rows that sum to 1 are distributions as they are: scipy.stats.entropy([0.5, 0.5], [0.25, 0.75]).
  const auto shares = compare_outputs(kNames, rows({{0.5F, 0.5F}}), rows({{0.25F, 0.75F}}), {});
  EXPECT_THAT(shares.outputs[0].kl_divergence, Optional(DoubleNear(0.14384103622589042, 1e-12)));
  const auto infinite = compare_outputs(kNames, rows({{0.5F, 0.5F}}), rows({{0, 1}}), {});
  EXPECT_EQ(infinite.outputs[0].kl_divergence, std::nullopt);
  EXPECT_THAT(compare_outputs(kNames, rows({{0, 1}}), rows({{0.5F, 0.5F}}), {}).outputs[0].kl_divergence,
              Optional(DoubleNear(0.6931471805599453, 1e-12)));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(compare_outputs(kNames, rows({{nan, nan}}), rows({{1, 2}}), {}).outputs[0].kl_divergence, std::nullopt);
}

TEST(OutputComparer, AnswersAreTheSameUntilTheFirstTokenThatDiffers) {
  const auto answer = [](std::vector<std::int64_t> tokens) {
    const Shape shape{static_cast<std::int64_t>(tokens.size())};
    return ItemValues{
        Value{.tensor = make_tensor<std::int64_t>(DType::int64, shape, std::span(tokens)), .elements = {}}};
  };
  OutputComparer comparer(kNames, std::vector<Tolerance>{{}});
  comparer.add(std::vector{answer({5, 6, 7, 8}), answer({1, 2, 3, 4})},
               std::vector{answer({5, 6, 9, 8}), answer({1, 2, 3, 4})});
  const auto result = comparer.result();
  EXPECT_THAT(result.samples[0].agreed_prefix, Optional(0.5));  // what is the same behind it does not count
  EXPECT_THAT(result.samples[1].agreed_prefix, Optional(1.0));
  EXPECT_THAT(result.whole.outputs[0].agreed_prefix, Optional(0.75));
  ASSERT_EQ(result.whole.outputs[0].partings.size(), 1U);
  const Parting& parting = result.whole.outputs[0].partings[0];
  EXPECT_EQ(std::tuple(parting.item, parting.position, parting.length), std::tuple(0U, 2U, 4U));
  EXPECT_THAT(parting.before, ElementsAre(5, 6));
  EXPECT_THAT(parting.reference, ElementsAre(7, 8));
  EXPECT_THAT(parting.candidate, ElementsAre(9, 8));
  EXPECT_EQ(compare_outputs(kNames, rows({{1, 2}}), rows({{1, 2}}), {}).outputs[0].agreed_prefix, std::nullopt);
}

TEST(OutputComparer, OfLongAnswersThatPartOnlyTheSurroundingsAreKept) {
  const auto answer = [](std::int64_t different) {
    std::vector<std::int64_t> tokens(100);
    std::iota(tokens.begin(), tokens.end(), 0);
    tokens[50] = different;
    return ItemValues{
        Value{.tensor = make_tensor<std::int64_t>(DType::int64, Shape{100}, std::span(tokens)), .elements = {}}};
  };
  OutputComparer comparer(kNames, std::vector<Tolerance>{{}});
  for (std::int64_t item = 0; item < 12; ++item)
    comparer.add(std::vector<ItemValues>{answer(50)}, std::vector<ItemValues>{answer(900 + item)});
  const auto partings = comparer.result().whole.outputs[0].partings;
  ASSERT_EQ(partings.size(), kMostPartings);
  EXPECT_EQ(partings[7].item, 7U);
  EXPECT_THAT(partings[7].before, ElementsAre(42, 43, 44, 45, 46, 47, 48, 49));
  EXPECT_EQ(partings[7].reference.size(), kMostFromParting);
  EXPECT_EQ(partings[7].reference[1], 51);
  EXPECT_EQ(partings[7].candidate[0], 907);
}

TEST(OutputComparer, ImagesHaveAStructuralSimilarity) {
  std::vector<float> image(64), other(64);
  for (std::size_t i = 0; i < 64; ++i) {
    image[i] = static_cast<float>(i % 8);
    other[i] = image[i] + (i % 2 == 0 ? 1.0F : -1.0F);
  }
  const auto item = [](const std::vector<float>& values) { return ItemValues{floats({1, 1, 8, 8}, values)}; };
  OutputComparer comparer(kNames, {});
  comparer.add(std::vector{item(image), item(image)}, std::vector{item(image), item(other)});
  const auto result = comparer.result();
  EXPECT_THAT(result.samples[0].ssim, Optional(DoubleNear(1, 1e-12)));
  EXPECT_LT(*result.samples[1].ssim, 0.95);
  EXPECT_DOUBLE_EQ(*result.whole.outputs[0].ssim, (*result.samples[0].ssim + *result.samples[1].ssim) / 2);
  EXPECT_TRUE(std::isinf(*result.samples[0].psnr_db));
  EXPECT_EQ(compare_outputs(kNames, rows({{1, 2}}), rows({{1, 2}}), {}).outputs[0].ssim, std::nullopt);
}

TEST(OutputComparer, ConstantImagesAreSaid) {
  const ItemValues constant{floats({1, 1, 8, 8}, std::vector<float>(64, 3))};
  OutputComparer comparer(kNames, {});
  comparer.add(std::span(&constant, 1), std::span(&constant, 1));
  const auto output = comparer.result().whole.outputs[0];
  EXPECT_TRUE(std::isinf(*output.psnr_db));
  EXPECT_THAT(output.ssim, Optional(1.0));
  EXPECT_EQ(output.pearson, std::nullopt);
}

}  // namespace
}  // namespace infermeter::output_comparer_test
