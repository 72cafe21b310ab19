#include "infermeter/data/perturb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "infermeter/data/make_data.hpp"

namespace infermeter::perturb_test {
namespace {

Tensor floats(Shape shape, std::vector<float> values) {
  return make_tensor<float>(DType::float32, std::move(shape), values);
}

std::vector<double> numbers(const Tensor& tensor) { return *to_doubles(tensor); }

// Two channels, one in [0, 1] and one in [100, 300], each of 32 x 32 numbers.
Tensor two_channels() {
  std::vector<float> values;
  for (int i = 0; i < 1024; ++i) values.push_back(static_cast<float>(i) / 1023);
  for (int i = 0; i < 1024; ++i) values.push_back(100 + 200 * static_cast<float>(i) / 1023);
  return floats({1, 2, 32, 32}, values);
}

double deviation(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

TEST(Perturb, NoiseIsAShareOfEachChannelsRangeAndStaysInIt) {
  const auto base = numbers(two_channels());
  const auto noisy = numbers(Perturber(two_channels(), {.noise = 0.01})(1));
  const std::span low(noisy.data(), 1024), high(noisy.data() + 1024, 1024);
  EXPECT_NEAR(deviation(low, std::span(base).first(1024)), 0.01, 0.001);
  EXPECT_NEAR(deviation(high, std::span(base).last(1024)), 2, 0.2);  // over the whole it would be 3
  EXPECT_GE(*std::ranges::min_element(low), 0);
  EXPECT_LE(*std::ranges::max_element(low), 1);
  EXPECT_GE(*std::ranges::min_element(high), 100);
  EXPECT_LE(*std::ranges::max_element(high), 300);
}

TEST(Perturb, EachItemHasItsOwnNoiseAndEachSeed) {
  const Perturber perturber(two_channels(), {});
  EXPECT_EQ(numbers(perturber(1)), numbers(Perturber(two_channels(), {})(1)));
  EXPECT_NE(numbers(perturber(1)), numbers(perturber(2)));
  EXPECT_NE(numbers(perturber(1)), numbers(Perturber(two_channels(), {.seed = 2})(1)));
}

TEST(Perturb, AGivenRangeBoundsAllAndSetsTheNoise) {
  const Tensor base = floats({1, 1000}, std::vector<float>(1000, 0.5F));
  const auto noisy = numbers(Perturber(base, {.noise = 0.1, .range = ValidRange{0, 10}})(1));
  EXPECT_NEAR(deviation(noisy, numbers(base)), 0.8, 0.25);  // 1, less what is cut at 0
  EXPECT_GE(*std::ranges::min_element(noisy), 0);
}

TEST(Perturb, ConstantChannelsAndWhatIsNotFiniteStay) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor base = floats({1, 2, 2, 1}, {3, 3, infinity, 1});
  const auto noisy = numbers(Perturber(base, {})(1));
  EXPECT_EQ(noisy[0], 3);
  EXPECT_EQ(noisy[1], 3);
  EXPECT_EQ(noisy[2], infinity);
  EXPECT_EQ(noisy[3], 1);
}

TEST(Perturb, ChannelsThatComeLastAreKnown) {
  std::vector<float> values;
  for (int i = 0; i < 1024; ++i) values.insert(values.end(), {static_cast<float>(i % 2), 7, 7});
  const auto noisy = numbers(Perturber(floats({1, 32, 32, 3}, values), {})(1));
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    if (i % 3 != 0) {
      EXPECT_EQ(noisy[i], 7);
    }
  }
  EXPECT_NE(noisy[0] + noisy[3], 1);
}

TEST(Perturb, WholeNumbersMoveByWholeStepsWithinTheirRange) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 1000; ++i) pixels.push_back(static_cast<std::uint8_t>(i % 2 == 0 ? 0 : 20));
  const Tensor base = make_tensor<std::uint8_t>(DType::uint8, {1, 1000}, pixels);
  const auto noisy = numbers(Perturber(base, {.noise = 0.01})(1));  // 0.2 of a step: half a step is given
  const auto before = numbers(base);
  int moved = 0;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    EXPECT_EQ(noisy[i], std::floor(noisy[i]));
    EXPECT_GE(noisy[i], 0);
    EXPECT_LE(noisy[i], 20);
    moved += noisy[i] != before[i] ? 1 : 0;
  }
  EXPECT_GT(moved, 50);
  EXPECT_LT(moved, 400);
  EXPECT_EQ(numbers(Perturber(base, {.noise = 0})(1)), before);
}

TEST(Perturb, HalvesAndComplexNumbersStayInTheirRange) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::complex64, DType::float8e4m3fn}) {
    const Port port{.name = "x", .dtype = dtype, .shape = {1, 64}};
    const auto set = make_data({.perturb = 3}, std::span(&port, 1));
    ASSERT_TRUE(set.ok()) << set.error().message;
    EXPECT_NE(numbers(set->items[0].inputs[0].tensor), numbers(set->items[1].inputs[0].tensor));
    for (const double value : numbers(set->items[2].inputs[0].tensor)) EXPECT_LE(std::abs(value), 1);
  }
}

TEST(Perturb, NamesAreNoMeasurements) {
  EXPECT_TRUE(takes_noise(DType::float32, "input"));
  EXPECT_TRUE(takes_noise(DType::uint8, "pixels"));
  EXPECT_FALSE(takes_noise(DType::uint8, "attention_mask"));
  EXPECT_FALSE(takes_noise(DType::int64, "input"));
  EXPECT_FALSE(takes_noise(DType::int32, "lengths"));
  EXPECT_FALSE(takes_noise(DType::boolean, "x"));
  EXPECT_FALSE(takes_noise(DType::string, "x"));
}

TEST(Perturb, ADataSetIsTheBaseAndItsNoisyLikes) {
  const std::vector<Port> ports = {{.name = "x", .dtype = DType::float32, .shape = {-1, 8}, .batch_axis = 0},
                                   {.name = "input_ids", .dtype = DType::int64, .shape = {-1, 8}, .batch_axis = 0}};
  const DataOptions options{.distributions = {{"x", "uniform:5:6"}}, .perturb = 10};
  const auto set = make_data(options, ports);
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_EQ(set->items.size(), 10U);
  EXPECT_EQ(set->available, 10);
  EXPECT_EQ(set->items[0].name, "synthetic 0");
  EXPECT_EQ(set->items[3].name, "synthetic 0 with noise 3");
  for (const DataItem& item : set->items) {
    for (const double value : numbers(item.inputs[0].tensor)) EXPECT_TRUE(value >= 5 && value <= 6);
    EXPECT_EQ(numbers(item.inputs[1].tensor), numbers(set->items[0].inputs[1].tensor));
  }
  // A part of it is what the whole has there.
  DataOptions part = options;
  part.first = 3;
  part.limit = 2;
  const auto some = make_data(part, ports);
  ASSERT_EQ(some->items.size(), 2U);
  EXPECT_EQ(some->items[0].name, "synthetic 0 with noise 3");
  EXPECT_EQ(numbers(some->items[1].inputs[0].tensor), numbers(set->items[4].inputs[0].tensor));
}

std::string refusal(const DataOptions& options) {
  const Port port{.name = "x", .dtype = DType::float32, .shape = {1, 8}};
  const auto set = make_data(options, std::span(&port, 1));
  return set.ok() ? "accepted" : set.error().message;
}

TEST(Perturb, RefusesWhatMakesNoSense) {
  EXPECT_EQ(refusal({.perturb = -1}), "--perturb must be between 1 and 1000000, not -1");
  EXPECT_EQ(refusal({.perturb = 3, .noise = -0.5}), "--noise must be a share between 0 and 1, not -0.5");
  EXPECT_THAT(refusal({.perturb = 3, .labels = "labels.txt"}), testing::HasSubstr("no labels are known"));
  EXPECT_EQ(refusal({.first = 3, .perturb = 3}), "'synthetic' has 3 items, none of them from the 4th on");
}

}  // namespace
}  // namespace infermeter::perturb_test
