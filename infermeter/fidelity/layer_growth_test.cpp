#include "infermeter/fidelity/layer_growth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace infermeter::layer_growth_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

Value floats(std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {.kind = Value::Kind::tensor, .tensor = make_tensor<float>(DType::float32, {count}, values), .elements = {}};
}

LayerTensor layer(const std::string& name, std::vector<float> values, const std::string& op = "Conv") {
  return {.name = name, .node = name, .op = op, .position = 0, .value = floats(std::move(values))};
}

LayerTrace trace(std::vector<LayerTensor> tensors, const std::string& precision = "float32") {
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].position = i;
  return {.precision = precision, .tensors = std::move(tensors)};
}

// A chain t0, t1, … of one value 1 each, whose relative errors are these.
LayerGrowth growth_of(const std::vector<double>& errors, const std::string& precision = "float32") {
  std::vector<LayerTensor> left, right;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    left.push_back(layer("t" + std::to_string(i), {1.0F}));
    right.push_back(layer("t" + std::to_string(i), {static_cast<float>(1 + errors[i])}));
  }
  return layer_growth(trace(left), trace(right, precision));
}

TEST(LayerGrowth, TheSameNumbersPartNowhere) {
  const LayerGrowth growth = growth_of({0, 0, 0});
  EXPECT_FALSE(growth.first_difference);
  EXPECT_FALSE(growth.jump);
  EXPECT_EQ(growth_error(growth.tensors[1]), 0.0);
}

TEST(LayerGrowth, TheJumpIsNamedAndNotTheLargestError) {
  // The largest error is at t4; the first difference, which is rounding, at t1.
  const LayerGrowth growth = growth_of({0, 1e-6, 2e-6, 0.1, 0.5, 0.2});
  EXPECT_EQ(growth.first_difference, 1U);
  EXPECT_EQ(growth.jump, 3U);
  EXPECT_NEAR(growth.before_jump, 2e-6, 2e-7);
}

TEST(LayerGrowth, StepsBelowTenTimesAreNoJump) {
  EXPECT_FALSE(growth_of({1e-6, 9e-6, 8e-5, 7e-4, 6e-3, 5e-2}).jump);
  EXPECT_EQ(growth_of({1e-6, 9e-6, 8e-5, 7e-4, 8e-3}).jump, 4U);
}

TEST(LayerGrowth, RoundingIsNoJump) {
  // 2^-16 for float32, 2^-5 for bfloat16: a first error of one rounding of 2^-9 is what the precision does.
  EXPECT_FALSE(growth_of({0, 1.4e-5}).jump);
  EXPECT_EQ(growth_of({0, 1.7e-5}).jump, 1U);
  EXPECT_FALSE(growth_of({0, 0.004, 0.03}, "bfloat16").jump);
  EXPECT_EQ(growth_of({0, 0.003, 0.033}, "bfloat16").jump, 2U);
}

TEST(LayerGrowth, WhatWasStoredCoarselyStaysCoarse) {
  LayerTrace left = trace({layer("a", {1}), layer("b", {1}), layer("c", {1})});
  LayerTrace right = trace({layer("a", {1}), layer("b", {1}), layer("c", {1.002F})});
  EXPECT_EQ(layer_growth(left, right).jump, 2U);
  const std::array<std::uint16_t, 1> one = {0x3C00};
  right.tensors[1].value.tensor = make_tensor<std::uint16_t>(DType::float16, {1}, one);
  const LayerGrowth growth = layer_growth(left, right);
  EXPECT_FALSE(growth.jump);
  EXPECT_EQ(growth.tensors[1].candidate_dtype, "float16");
  EXPECT_EQ(growth.tensors[0].floor, rounding_floor("float32", DType::float32));
  EXPECT_EQ(growth.tensors[2].floor, rounding_floor("float32", DType::float16));
}

TEST(LayerGrowth, QuantisationRaisesTheFloorFromItsFirstNodeOn) {
  const LayerTrace left = trace({layer("a", {1}), layer("b", {1})});
  const LayerTrace right = trace({layer("a", {1}), layer("q", {1}, "QuantizeLinear"), layer("b", {1.1F})});
  const LayerGrowth growth = layer_growth(left, right);
  EXPECT_FALSE(growth.jump);
  EXPECT_LT(growth.tensors[0].floor, 1e-4);
  EXPECT_EQ(growth.tensors[1].floor, 0.125);
  EXPECT_THAT(growth.candidate_only, ElementsAre("q"));
}

TEST(LayerGrowth, OfAQuantisedTensorWhatItsReadersRead) {
  // The quantiser took the Relu away: quantising to unsigned numbers does the same.
  const LayerTrace plain = trace({layer("x", {-1, 2}), layer("r", {0, 2}, "Relu"), layer("y", {3})});
  const LayerTrace quantised = trace({layer("x", {-1, 2}), layer("r", {-1, 2}),
                                      layer("r_DequantizeLinear_Output", {0, 2}, "DequantizeLinear"), layer("y", {3})});
  for (const auto& [reference, candidate] : {std::pair(plain, quantised), std::pair(quantised, plain)}) {
    const LayerGrowth growth = layer_growth(reference, candidate);
    ASSERT_EQ(growth.tensors.size(), 3U);
    EXPECT_FALSE(growth.first_difference);
    EXPECT_FALSE(growth.tensors[1].matched_by_order);
    EXPECT_EQ(growth.reference_only.size() + growth.candidate_only.size(), 1U);
  }
  EXPECT_EQ(layer_growth(quantised, quantised).tensors.size(), 4U);
}

TEST(LayerGrowth, ValuesThatAreNoNumbersInOneOnlyAreAJump) {
  const LayerTrace left = trace({layer("a", {1, 2}), layer("b", {1, 2}), layer("c", {1, not_a_number})});
  LayerTrace right = trace({layer("a", {1, 2}), layer("b", {1, not_a_number}), layer("c", {1, not_a_number})});
  const LayerGrowth growth = layer_growth(left, right);
  EXPECT_EQ(growth.jump, 1U);
  EXPECT_TRUE(std::isinf(growth_error(growth.tensors[1]).value()));
  EXPECT_EQ(growth_error(growth.tensors[2]), 0.0);  // NaN in both
}

TEST(LayerGrowth, OtherNamesAreMatchedByOperatorShapeAndOrder) {
  const LayerTrace left = trace({layer("conv_a", {1}), layer("relu", {1}, "Relu"), layer("conv_b", {2})});
  const LayerTrace right = trace({layer("x1", {1}), layer("relu", {1}, "Relu"), layer("x2", {3})});
  const LayerGrowth growth = layer_growth(left, right);
  ASSERT_EQ(growth.tensors.size(), 3U);
  EXPECT_EQ(growth.tensors[2].candidate_name, "x2");
  EXPECT_TRUE(growth.tensors[2].matched_by_order);
  EXPECT_FALSE(growth.tensors[1].matched_by_order);
  EXPECT_EQ(growth.jump, 2U);
  EXPECT_THAT(growth.candidate_only, IsEmpty());
}

TEST(LayerGrowth, AConvolutionIsNotTheOneThatANormalisationWasFoldedInto) {
  const LayerTrace left =
      trace({layer("conv", {1}), layer("bn", {2}, "BatchNormalization"), layer("relu", {2}, "Relu")});
  const LayerTrace right = trace({layer("folded", {2}), layer("q", {2}, "QuantizeLinear"), layer("relu", {2}, "Relu")});
  const LayerGrowth growth = layer_growth(left, right);
  ASSERT_EQ(growth.tensors.size(), 1U);
  EXPECT_EQ(growth.tensors[0].name, "relu");
  EXPECT_THAT(growth.reference_only, ElementsAre("conv", "bn"));
}

TEST(LayerGrowth, NothingIsGuessedWhereTheNumbersOfNodesDiffer) {
  const LayerTrace left = trace({layer("conv_a", {1}), layer("conv_b", {2})});
  const LayerTrace right = trace({layer("x1", {1}), layer("x2", {5}), layer("x3", {2})});
  const LayerGrowth growth = layer_growth(left, right);
  EXPECT_THAT(growth.tensors, IsEmpty());
  EXPECT_THAT(growth.reference_only, ElementsAre("conv_a", "conv_b"));
  EXPECT_THAT(growth.candidate_only, ElementsAre("x1", "x2", "x3"));
}

TEST(LayerGrowth, AnotherShapeIsAJump) {
  const LayerGrowth growth =
      layer_growth(trace({layer("a", {1}), layer("b", {1})}), trace({layer("a", {1}), layer("b", {1, 2})}));
  EXPECT_EQ(growth.tensors[1].reason, "has shape [2] here but [1] in the reference");
  EXPECT_FALSE(growth_error(growth.tensors[1]));
  EXPECT_EQ(growth.first_difference, 1U);
  EXPECT_EQ(growth.jump, 1U);
}

TEST(LayerGrowth, TextsAreTheSameOrHaveNoDistance) {
  const auto texts = [](const std::string& text) {
    LayerTrace one = trace({layer("a", {1})});
    one.tensors[0].value.tensor = {.dtype = DType::string, .shape = {1}, .strings = {text}};
    return one;
  };
  EXPECT_EQ(layer_growth(texts("x"), texts("x")).tensors[0].reason, "");
  const LayerGrowth growth = layer_growth(texts("x"), texts("y"));
  EXPECT_EQ(growth.tensors[0].reason, "holds texts that differ, which have no distance");
  EXPECT_FALSE(growth.jump);
}

TEST(LayerGrowth, AReferenceOfZerosHasNoRelativeError) {
  const LayerGrowth growth = layer_growth(trace({layer("a", {0})}), trace({layer("a", {1e-9F})}));
  EXPECT_FALSE(growth_error(growth.tensors[0]));
  EXPECT_EQ(growth.first_difference, 0U);
  EXPECT_FALSE(growth.jump);
}

TEST(LayerGrowth, IntegersDifferButDoNotJump) {
  const std::array<std::int64_t, 1> three = {3}, nine = {9};
  LayerTrace left = trace({layer("a", {1})}), right = left;
  left.tensors[0].value.tensor = make_tensor<std::int64_t>(DType::int64, {1}, three);
  right.tensors[0].value.tensor = make_tensor<std::int64_t>(DType::int64, {1}, nine);
  const LayerGrowth growth = layer_growth(left, right);
  EXPECT_EQ(growth.first_difference, 0U);
  EXPECT_FALSE(growth.jump);
}

}  // namespace
}  // namespace infermeter::layer_growth_test
