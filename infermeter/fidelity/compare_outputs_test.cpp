#include "infermeter/fidelity/compare_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/data/arrays/number_formats.hpp"

namespace infermeter::compare_outputs_test {
namespace {

using testing::HasSubstr;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

template <class T>
Value tensor(DType dtype, Shape shape, const std::vector<T>& elements) {
  return {Value::Kind::tensor, make_tensor<T>(dtype, std::move(shape), std::span<const T>(elements)), {}};
}

Value floats(Shape shape, const std::vector<float>& elements) {
  return tensor(DType::float32, std::move(shape), elements);
}
Value floats(const std::vector<float>& elements) {
  return floats({static_cast<std::int64_t>(elements.size())}, elements);
}

Value texts(const std::vector<std::string>& strings) {
  return {Value::Kind::tensor, {DType::string, {static_cast<std::int64_t>(strings.size())}, {}, strings}, {}};
}

Value sequence(std::vector<Value> elements) { return {Value::Kind::sequence, {}, std::move(elements)}; }
Value nothing() { return {Value::Kind::none, {}, {}}; }

const std::vector<std::string> names = {"y", "z"};

OutputComparison compare(const Value& reference, const Value& candidate, Tolerance tolerance = {1e-3, 0}) {
  return compare_outputs(names, std::vector<ItemValues>{{reference}}, std::vector<ItemValues>{{candidate}},
                         std::vector<Tolerance>{tolerance});
}

bool has(const OutputComparison& comparison, DiagnosticId id) {
  return std::ranges::count(comparison.diagnostics, id, &Diagnostic::id) == 1;
}

// r = np.float32([[1, 2, 3, -110], [.5, 4, -1, 2]]), c = np.float32([[1, 2.25, 3, -109.5], [.5, 3.5, -1, 7]]), d = c -
// r
TEST(CompareOutputs, FiguresAreNumPys) {
  const auto result =
      compare(floats({2, 4}, {1, 2, 3, -110, 0.5, 4, -1, 2}), floats({2, 4}, {1, 2.25, 3, -109.5, 0.5, 3.5, -1, 7}));
  ASSERT_EQ(result.outputs.size(), 1U);
  const OutputDifference& y = result.outputs[0];
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.dtype, "float32");
  EXPECT_EQ(y.shape, (Shape{2, 4}));
  EXPECT_EQ(y.element_count, 8U);
  EXPECT_EQ(y.max_absolute, 5);         // np.abs(d).max()
  EXPECT_EQ(y.max_absolute_index, 7U);  // np.abs(d).argmax()
  EXPECT_EQ(y.reference_at_max, 2);
  EXPECT_EQ(y.candidate_at_max, 7);
  EXPECT_NEAR(*y.relative_l2, 0.04589626017722014, 1e-15);  // np.linalg.norm(d) / np.linalg.norm(r), in float64
  EXPECT_NEAR(*y.cosine, 0.9989477097196918, 1e-15);        // (r * c).sum() / np.linalg.norm(r) / np.linalg.norm(c)
  EXPECT_EQ(*y.top1_agreement, 0.5);                        // (r.argmax(1) == c.argmax(1)).mean()
  EXPECT_EQ(y.mismatched, 4U);                              // (np.abs(d) > 1e-3 * 110).sum()
  EXPECT_FALSE(result.agree);
  ASSERT_TRUE(has(result, DiagnosticId::outputs_differ));
  EXPECT_EQ(result.diagnostics[0].message,
            "output 'y': 4 of 8 values are beyond the tolerance; the largest difference is 5 at [1, 3], where the "
            "reference has 2 and this has 7; relative L2 0.0459");
}

TEST(CompareOutputs, ToleranceScalesWithTheLargestReference) {
  const Value reference = floats({100, 0.001F});
  EXPECT_TRUE(compare(reference, floats({100.09F, 0.001F}), {1e-3, 0}).agree);
  EXPECT_TRUE(
      compare(reference, floats({100, 0.09F}), {1e-3, 0}).agree);  // by the scale of the output, not the element
  EXPECT_FALSE(compare(reference, floats({100.11F, 0.001F}), {1e-3, 0}).agree);
  EXPECT_TRUE(compare(reference, floats({100.11F, 0.001F}), {1e-3, 0.02}).agree);
  EXPECT_FALSE(compare(floats({0, 0}), floats({0, 1e-6F}), {1e-3, 0}).agree);
  EXPECT_TRUE(compare(floats({0, 0}), floats({0, 1e-6F}), {1e-3, 1e-5}).agree);
  // The largest *finite* reference: infinity is no scale.
  EXPECT_FALSE(compare(floats({inf, 1}), floats({inf, 2}), {1e-3, 0}).agree);
}

TEST(CompareOutputs, EqualOutputsAgree) {
  const auto result = compare(floats({1, -0.0F, 3}), floats({1, 0.0F, 3}), {});
  EXPECT_TRUE(result.agree);
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_EQ(*result.outputs[0].relative_l2, 0);
  EXPECT_EQ(*result.outputs[0].cosine, 1);
  EXPECT_EQ(result.outputs[0].top1_agreement, std::nullopt);  // [3] is no classifier's
}

TEST(CompareOutputs, ZerosHaveNoRelativeFigures) {
  const auto result = compare(floats({0, 0}), floats({0, 0}));
  EXPECT_TRUE(result.agree);
  EXPECT_EQ(result.outputs[0].relative_l2, std::nullopt);
  EXPECT_EQ(result.outputs[0].cosine, std::nullopt);
  EXPECT_TRUE(compare(floats({0}, {}), floats({0}, {})).agree);
}

TEST(CompareOutputs, NonFiniteValuesAgreeOnlyWithTheirLike) {
  EXPECT_TRUE(compare(floats({nan, inf, -inf, 1}), floats({nan, inf, -inf, 1})).agree);
  for (const auto& [reference, candidate] : std::vector<std::pair<float, float>>{
           {nan, 1}, {1, nan}, {inf, -inf}, {inf, nan}, {inf, 3e38F}, {1, inf}, {-inf, 1}}) {
    const auto result = compare(floats({reference, 1}), floats({candidate, 1}), {1, 1});
    EXPECT_FALSE(result.agree) << reference << ' ' << candidate;
    EXPECT_EQ(result.outputs[0].mismatched, 1U);
    EXPECT_EQ(result.outputs[0].non_finite_apart, 1U);
    EXPECT_TRUE(has(result, DiagnosticId::outputs_not_finite));
    // The error is no number, however close the others are.
    const OutputDifference& y = result.outputs[0];
    for (const auto& figure : {y.max_absolute, y.mae, y.mse, y.rmse, y.relative_l1, y.relative_l2, y.relative_max,
                               y.cosine, y.pearson, y.data_range, y.psnr_db, y.ssim}) {
      EXPECT_EQ(figure, std::nullopt) << reference << ' ' << candidate;
    }
    EXPECT_EQ(largest_difference(result), std::nullopt);
  }
  const auto result = compare(floats({nan, inf, 2, nan}), floats({1, inf, inf, nan}));
  EXPECT_EQ(result.outputs[0].nan_reference, 2U);
  EXPECT_EQ(result.outputs[0].nan_candidate, 1U);
  EXPECT_EQ(result.outputs[0].inf_reference, 1U);
  EXPECT_EQ(result.outputs[0].inf_candidate, 2U);
  EXPECT_THAT(result.diagnostics[1].message,
              HasSubstr("2 values are NaN or infinite and not the same on both sides (NaN: 2 in the reference, 1 here; "
                        "infinite: 1 and 2)"));
}

TEST(CompareOutputs, HugeDoublesLeaveNoInfinityBehind) {
  const auto result =
      compare(tensor<double>(DType::float64, {2}, {1e308, 1}), tensor<double>(DType::float64, {2}, {-1e308, 1}));
  EXPECT_FALSE(result.agree);
  EXPECT_TRUE(std::isfinite(*result.outputs[0].max_absolute));
  EXPECT_EQ(result.outputs[0].relative_l2, std::nullopt);
  EXPECT_EQ(result.outputs[0].cosine, std::nullopt);
}

TEST(CompareOutputs, IntegersAreExactToTheLastBit) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // as a double it is its neighbour
  const auto result = compare(tensor<std::int64_t>(DType::int64, {2}, {large, 5}),
                              tensor<std::int64_t>(DType::int64, {2}, {large - 1, 5}), {});
  EXPECT_FALSE(result.agree);
  EXPECT_EQ(result.outputs[0].max_absolute, 1);
  EXPECT_EQ(result.outputs[0].mismatched, 1U);
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const auto far =
      compare(tensor<std::int64_t>(DType::int64, {1}, {least}), tensor<std::uint64_t>(DType::uint64, {1}, {most}), {});
  EXPECT_DOUBLE_EQ(*far.outputs[0].max_absolute, 0x1p63 + 0x1p64);
  EXPECT_TRUE(
      compare(tensor<std::int64_t>(DType::int64, {1}, {large}), tensor<std::int64_t>(DType::int64, {1}, {large}), {})
          .agree);
}

TEST(CompareOutputs, EveryElementTypeIsRead) {
  const auto half = [](float v) { return float16_from(v); };
  const auto brain = [](float v) { return bfloat16_from(v); };
  struct Case {
    Value value, other;  // 1, -2 and 1, -1; the unsigned 1, 2 and 1, 1
  };
  const std::vector<Case> cases = {
      {tensor<double>(DType::float64, {2}, {1, -2}), tensor<double>(DType::float64, {2}, {1, -1})},
      {tensor<std::uint16_t>(DType::float16, {2}, {half(1), half(-2)}),
       tensor<std::uint16_t>(DType::float16, {2}, {half(1), half(-1)})},
      {tensor<std::uint16_t>(DType::bfloat16, {2}, {brain(1), brain(-2)}),
       tensor<std::uint16_t>(DType::bfloat16, {2}, {brain(1), brain(-1)})},
      {tensor<std::uint8_t>(DType::float8e5m2, {2}, {0x3c, 0xc0}),
       tensor<std::uint8_t>(DType::float8e5m2, {2}, {0x3c, 0xbc})},
      {tensor<std::uint8_t>(DType::float8e4m3fn, {2}, {0x38, 0xc0}),
       tensor<std::uint8_t>(DType::float8e4m3fn, {2}, {0x38, 0xb8})},
      {tensor<std::uint8_t>(DType::float4e2m1, {2}, {0xc2}), tensor<std::uint8_t>(DType::float4e2m1, {2}, {0xa2})},
      {tensor<float>(DType::complex64, {1}, {1, -2}), tensor<float>(DType::complex64, {1}, {1, -1})},
      {tensor<double>(DType::complex128, {1}, {1, -2}), tensor<double>(DType::complex128, {1}, {1, -1})},
      {tensor<std::int8_t>(DType::int8, {2}, {1, -2}), tensor<std::int8_t>(DType::int8, {2}, {1, -1})},
      {tensor<std::int16_t>(DType::int16, {2}, {1, -2}), tensor<std::int16_t>(DType::int16, {2}, {1, -1})},
      {tensor<std::int32_t>(DType::int32, {2}, {1, -2}), tensor<std::int32_t>(DType::int32, {2}, {1, -1})},
      {tensor<std::uint8_t>(DType::int4, {2}, {0xe1}), tensor<std::uint8_t>(DType::int4, {2}, {0xf1})},
      {tensor<std::uint8_t>(DType::uint8, {2}, {1, 2}), tensor<std::uint8_t>(DType::uint8, {2}, {1, 1})},
      {tensor<std::uint16_t>(DType::uint16, {2}, {1, 2}), tensor<std::uint16_t>(DType::uint16, {2}, {1, 1})},
      {tensor<std::uint32_t>(DType::uint32, {2}, {1, 2}), tensor<std::uint32_t>(DType::uint32, {2}, {1, 1})},
      {tensor<std::uint8_t>(DType::uint4, {2}, {0x21}), tensor<std::uint8_t>(DType::uint4, {2}, {0x11})}};
  for (const Case& c : cases) {
    const std::string dtype(to_string(c.value.tensor.dtype));
    EXPECT_TRUE(compare(c.value, c.value, {}).agree) << dtype;
    const auto result = compare(c.value, c.other, {});
    EXPECT_FALSE(result.agree) << dtype;
    ASSERT_TRUE(result.outputs[0].comparable) << dtype << result.outputs[0].reason;
    EXPECT_EQ(result.outputs[0].max_absolute, 1) << dtype;
    EXPECT_EQ(std::abs(result.outputs[0].reference_at_max), 2) << dtype;
    EXPECT_EQ(result.outputs[0].mismatched, 1U) << dtype;
    EXPECT_EQ(result.outputs[0].element_count, c.value.tensor.shape[0]) << dtype;
  }
  // Booleans: any byte but 0 is true.
  const Value truth = tensor<std::uint8_t>(DType::boolean, {2}, {1, 0});
  EXPECT_TRUE(compare(truth, tensor<std::uint8_t>(DType::boolean, {2}, {255, 0}), {}).agree);
  EXPECT_FALSE(compare(truth, tensor<std::uint8_t>(DType::boolean, {2}, {1, 1}), {}).agree);
}

TEST(CompareOutputs, FloatsOfDifferentWidthAreComparable) {
  const Value half = tensor<std::uint16_t>(DType::float16, {2}, {float16_from(1), float16_from(2)});
  EXPECT_TRUE(compare(floats({1, 2}), half).agree);
  EXPECT_EQ(compare(floats({1, 2}), half).outputs[0].dtype, "float32");
}

TEST(CompareOutputs, TextsAreComparedAsTheyAre) {
  EXPECT_TRUE(compare(texts({"a", "b"}), texts({"a", "b"})).agree);
  const auto result = compare(texts({"a", "b", "c"}), texts({"a", "B", "C"}), {1, 1});
  EXPECT_FALSE(result.agree);
  EXPECT_EQ(result.outputs[0].mismatched, 2U);
  EXPECT_EQ(result.diagnostics[0].message, "output 'y': 2 of 3 values are beyond the tolerance");
}

TEST(CompareOutputs, SequencesAndAbsentOnes) {
  EXPECT_TRUE(compare(nothing(), nothing()).agree);
  EXPECT_TRUE(compare(sequence({}), sequence({})).agree);
  const Value two = sequence({floats({1, 2}), floats({3, 4})});
  EXPECT_TRUE(compare(two, two).agree);
  const auto result = compare(two, sequence({floats({1, 2}), floats({3, 5})}));
  EXPECT_EQ(result.outputs[0].element_count, 4U);
  EXPECT_EQ(result.outputs[0].max_absolute_index, 3U);
  EXPECT_THAT(result.diagnostics[0].message, HasSubstr("is 1 at element 3"));
}

struct Incomparable {
  Value reference, candidate;
  const char* reason;
};

class CompareOutputsIncomparable : public testing::TestWithParam<Incomparable> {};

TEST_P(CompareOutputsIncomparable, IsSaid) {
  const auto result = compare(GetParam().reference, GetParam().candidate, {1, 1});
  EXPECT_FALSE(result.agree);
  EXPECT_FALSE(result.outputs[0].comparable);
  EXPECT_FALSE(result.outputs[0].within_tolerance);
  EXPECT_EQ(result.outputs[0].reason, GetParam().reason);
  ASSERT_TRUE(has(result, DiagnosticId::outputs_not_comparable));
  EXPECT_EQ(result.diagnostics[0].message, std::string("output 'y' ") + GetParam().reason);
}

Value nested(int depth) { return depth == 0 ? floats({1}) : sequence({nested(depth - 1)}); }

Value short_of_bytes() {
  Value value = floats({1, 2});
  value.tensor.shape = {4};
  return value;
}

INSTANTIATE_TEST_SUITE_P(
    All, CompareOutputsIncomparable,
    testing::Values(
        Incomparable{floats({1, 2}, {1, 2}), floats({1, 2, 1, 1}, {1, 2}),
                     "has shape [1, 2, 1, 1] here but [1, 2] in the reference"},
        Incomparable{floats({2, 1}, {1, 2}), floats({1, 2}, {1, 2}),
                     "has shape [1, 2] here but [2, 1] in the reference"},
        Incomparable{floats({1}), tensor<std::int32_t>(DType::int32, {1}, {1}),
                     "is int32 here but float32 in the reference"},
        Incomparable{texts({"1"}), floats({1}), "is float32 here but string in the reference"},
        Incomparable{tensor<std::uint8_t>(DType::boolean, {1}, {1}), tensor<std::uint8_t>(DType::uint8, {1}, {1}),
                     "is uint8 here but bool in the reference"},
        Incomparable{floats({1}), nothing(), "is nothing here but a tensor in the reference"},
        Incomparable{sequence({floats({1})}), floats({1}), "is a tensor here but a sequence in the reference"},
        Incomparable{sequence({floats({1})}), sequence({}), "has 0 elements here but 1 in the reference"},
        Incomparable{sequence({floats({1}), floats({1})}), sequence({floats({1}), floats({1, 2})}),
                     "in element 1 has shape [2] here but [1] in the reference"},
        Incomparable{short_of_bytes(), short_of_bytes(), "has a number of values that does not fit its shape [4]"}));

TEST(CompareOutputs, SequencesWithinSequencesHaveABound) {
  EXPECT_TRUE(compare(nested(3), nested(3)).agree);
  const auto result = compare(nested(40), nested(40));
  EXPECT_THAT(result.outputs[0].reason, HasSubstr("has sequences within sequences, more than 16 deep"));
}

TEST(CompareOutputs, AnotherNumberOfOutputsOrItemsIsSaid) {
  const std::vector<ItemValues> one = {{floats({1})}};
  const std::vector<ItemValues> two = {{floats({1}), floats({2})}};
  const auto fewer = compare_outputs(names, two, one, {});
  EXPECT_FALSE(fewer.agree);
  EXPECT_EQ(fewer.diagnostics[0].message, "there are 1 outputs here but 2 in the reference");
  EXPECT_EQ(fewer.outputs[1].reason, "is missing here");
  EXPECT_TRUE(fewer.outputs[0].within_tolerance);
  const auto more = compare_outputs(names, one, two, {});
  EXPECT_FALSE(more.agree);
  EXPECT_EQ(more.outputs[1].reason, "is not among the reference's outputs");
  const auto items = compare_outputs(names, std::vector<ItemValues>{one[0], one[0]}, one, {});
  EXPECT_FALSE(items.agree);
  EXPECT_EQ(items.diagnostics[0].message, "there are outputs for 1 data items here but for 2 in the reference");
  const auto none = compare_outputs(names, {}, {}, {});
  EXPECT_FALSE(none.agree);
  EXPECT_EQ(none.diagnostics[0].message, "there are no outputs to compare");
}

TEST(CompareOutputs, GoesOverAllItems) {
  const std::vector<ItemValues> reference = {
      {floats({1, 2}, {1, 2})}, {floats({1, 2}, {4, 3})}, {floats({1, 2}, {5, 6})}};
  const std::vector<ItemValues> candidate = {
      {floats({1, 2}, {1, 2})}, {floats({1, 2}, {4, 7})}, {floats({1, 2}, {5, 6})}};
  const auto result = compare_outputs(names, reference, candidate, {});
  EXPECT_EQ(result.items, 3U);
  EXPECT_EQ(result.outputs[0].element_count, 6U);
  EXPECT_EQ(result.outputs[0].max_absolute_item, 1U);
  EXPECT_EQ(result.outputs[0].max_absolute_index, 1U);
  EXPECT_NEAR(*result.outputs[0].top1_agreement, 2.0 / 3, 1e-15);
  EXPECT_THAT(result.diagnostics[0].message,
              HasSubstr("at [0, 1] of item 1, where the reference has 3 and this has 7"));
}

TEST(CompareOutputs, TakesTensorsLongerThanAChunk) {
  std::vector<float> reference(5000, 1);
  std::vector<float> candidate = reference;
  candidate[4500] = 2;
  candidate[2048] = 1.5;
  const auto result = compare(floats({2, 2500}, reference), floats({2, 2500}, candidate));
  EXPECT_EQ(result.outputs[0].max_absolute_index, 4500U);
  EXPECT_EQ(result.outputs[0].mismatched, 2U);
  EXPECT_NEAR(*result.outputs[0].relative_l2, std::sqrt(1.25 / 5000), 1e-15);
  EXPECT_EQ(*result.outputs[0].top1_agreement, 0);  // each row has one larger value, at 0 in the reference
  EXPECT_THAT(result.diagnostics[0].message, HasSubstr("at [1, 2000]"));
}

TEST(DefaultTolerance, TellsFloat32FromBfloat16) {
  // Measured: ResNet-50 in bfloat16 off by 0.5 where the largest output is 110; two float32 runtimes by 5e-7 of it.
  const Value reference = floats({110, 1});
  const Value bfloat16 = floats({109.5, 1});
  EXPECT_FALSE(compare(reference, bfloat16, default_tolerance("float32", DType::float32)).agree);
  EXPECT_TRUE(compare(reference, bfloat16, default_tolerance("bfloat16", DType::float32)).agree);
  for (const char* mixed : {"float32+bfloat16", "bfloat16+float32", "float16+float32+bfloat16"})
    EXPECT_EQ(default_tolerance(mixed, DType::float32).relative, default_tolerance("bfloat16", DType::float32).relative)
        << mixed;
  EXPECT_EQ(default_tolerance("", DType::float32).relative, default_tolerance("float32", DType::float32).relative);
  EXPECT_TRUE(compare(reference, floats({110 * (1 + 2e-5F), 1}), default_tolerance("float32", DType::float32)).agree);
}

// ONNX's runner has an rtol of 1e-3; float16 and what is coarser are allowed more, what is exact nothing.
TEST(RecordedTolerance, IsOnnxsOrThatOfACoarserPrecision) {
  EXPECT_EQ(recorded_tolerance("float32", floats({1})).relative, 1e-3);
  EXPECT_EQ(recorded_tolerance("", floats({1})).relative, 1e-3);
  EXPECT_EQ(recorded_tolerance("float16", floats({1})).relative, 0x1p-8);
  EXPECT_EQ(recorded_tolerance("bfloat16", floats({1})).relative, 0x1p-5);
  EXPECT_EQ(recorded_tolerance("float32", tensor<std::uint16_t>(DType::float16, {1}, {0})).relative, 0x1p-8);
  EXPECT_EQ(recorded_tolerance("bfloat16", tensor<std::int64_t>(DType::int64, {1}, {7})).relative, 0);
  EXPECT_EQ(recorded_tolerance("bfloat16", texts({"a"})).relative, 0);
  EXPECT_EQ(recorded_tolerance("bfloat16", nothing()).relative, 0);
  const Value mixed = sequence({tensor<std::int64_t>(DType::int64, {1}, {7}), floats({1})});
  EXPECT_EQ(recorded_tolerance("float32", mixed).relative, 1e-3);
  EXPECT_EQ(recorded_tolerance("bfloat16", mixed).relative, 0x1p-5);
  EXPECT_EQ(recorded_tolerance("bfloat16", sequence({})).relative, 0);
}

TEST(DefaultTolerance, GoesByPrecisionAndOutput) {
  EXPECT_EQ(default_tolerance("float32", DType::float32).relative, 0x1p-12);
  EXPECT_EQ(default_tolerance("", DType::float32).relative, 0x1p-12);
  EXPECT_EQ(default_tolerance("float64", DType::float64).relative, 0x1p-41);
  EXPECT_EQ(default_tolerance("float16", DType::float32).relative, 0x1p-8);
  EXPECT_EQ(default_tolerance("bf16", DType::float32).relative, 0x1p-5);
  EXPECT_EQ(default_tolerance("int8", DType::float32).relative, 0x1p-3);
  EXPECT_EQ(default_tolerance("float32", DType::float16).relative, 0x1p-8);  // what storing it costs
  EXPECT_EQ(default_tolerance("float32", DType::float8e5m2).relative, 0x1p-2);
  for (const DType whole : {DType::int64, DType::uint8, DType::boolean, DType::string}) {
    EXPECT_EQ(default_tolerance("bfloat16", whole).relative, 0);
    EXPECT_EQ(default_tolerance("bfloat16", whole).absolute, 0);
    EXPECT_EQ(default_tolerance("bfloat16", whole).floor, 0);
  }
}

Tolerance for_float32() { return default_tolerance("float32", DType::float32); }

// What two networks of random weights answer, or one network with the rounding errors of two runtimes.
std::vector<float> answers(unsigned seed, double scale, double rounding = 0) {
  std::mt19937 random(seed);
  std::mt19937 rounding_random(99);
  std::normal_distribution<double> normal;
  std::vector<float> values(1000);
  for (float& value : values) {
    value = static_cast<float>(scale * (normal(random) + rounding * normal(rounding_random)));
  }
  return values;
}

TEST(DefaultTolerance, KnowsNoSize) {
  for (const double scale : {1e-30, 1e-12, 1e-9, 1e-7, 1.0, 1e6, 1e30}) {
    const Value reference = floats(answers(1, scale));
    EXPECT_TRUE(compare(reference, floats(answers(1, scale, 1e-6)), for_float32()).agree) << scale;
    const auto other = compare(reference, floats(answers(2, scale)), for_float32());
    EXPECT_FALSE(other.agree || other.undecided) << scale;
    EXPECT_GT(other.outputs[0].mismatched, 900U) << scale;
  }
}

TEST(DefaultTolerance, KnowsNoSizeInOtherPrecisions) {
  for (const auto& [precision, dtype, rounding] : std::vector<std::tuple<const char*, DType, double>>{
           {"float16", DType::float16, 1e-3}, {"bfloat16", DType::bfloat16, 8e-3}, {"int8", DType::float32, 2e-2}}) {
    for (const double scale : {1e-4, 1e-2, 1.0, 100.0}) {
      const auto stored = [&](unsigned seed, double error) {
        std::vector<float> values = answers(seed, scale, error);
        if (dtype == DType::float32) return floats(values);
        std::vector<std::uint16_t> half;
        for (const float v : values) half.push_back(dtype == DType::float16 ? float16_from(v) : bfloat16_from(v));
        return tensor<std::uint16_t>(dtype, {1000}, half);
      };
      const Tolerance tolerance = default_tolerance(precision, dtype);
      EXPECT_TRUE(compare(stored(1, 0), stored(1, rounding), tolerance).agree) << precision << ' ' << scale;
      const auto other = compare(stored(1, 0), stored(2, 0), tolerance);
      EXPECT_FALSE(other.agree || other.undecided) << precision << ' ' << scale;
    }
  }
}

// Elements near 0 carry the rounding errors of the large ones that they were summed from.
TEST(DefaultTolerance, ValuesThatCancelMayBeOffByWhatTheLargeOnesAre) {
  for (const double scale : {1e-9, 1.0}) {
    std::vector<float> reference = answers(1, scale), candidate = reference;
    reference[7] = static_cast<float>(1e-9 * scale), candidate[7] = static_cast<float>(-3e-7 * scale);
    EXPECT_TRUE(compare(floats(reference), floats(candidate), for_float32()).agree);
  }
}

TEST(DefaultTolerance, ConstantOutputsAreComparedAsOthersAre) {
  EXPECT_TRUE(compare(floats({0.5F, 0.5F}), floats({0.5F, 0.50001F}), for_float32()).agree);
  EXPECT_FALSE(compare(floats({0.5F, 0.5F}), floats({0.6F, 0.6F}), for_float32()).agree);
  EXPECT_FALSE(compare(floats({1e-9F}), floats({2e-9F}), for_float32()).agree);
}

bool undecided(const OutputComparison& comparison) {
  EXPECT_FALSE(comparison.agree && comparison.undecided);
  EXPECT_EQ(has(comparison, DiagnosticId::outputs_undecided), comparison.undecided);
  return comparison.undecided;
}

TEST(Undecided, NothingIsToldFromZeros) {
  const auto zeros = compare(floats({0, 0}), floats({0, -0.0F}), for_float32());
  EXPECT_TRUE(undecided(zeros));
  EXPECT_TRUE(zeros.outputs[0].within_tolerance);
  EXPECT_EQ(zeros.outputs[0].undecided, "is 0 throughout in both, so nothing can be concluded");
  EXPECT_TRUE(undecided(compare(floats({nan, inf}), floats({nan, inf}), for_float32())));
  // One of them answers something.
  const auto wrong = compare(floats({0, 0}), floats({0, 1e-9F}), for_float32());
  EXPECT_FALSE(wrong.agree || undecided(wrong));
  // Classes, and what is empty, are reported.
  EXPECT_TRUE(compare(tensor<std::int64_t>(DType::int64, {1}, {0}), tensor<std::int64_t>(DType::int64, {1}, {0}),
                      default_tolerance("float32", DType::int64))
                  .agree);
  EXPECT_TRUE(compare(floats({0, 4}, {}), floats({0, 4}, {}), for_float32()).agree);
  // So is what somebody asked for.
  EXPECT_TRUE(compare(floats({0, 0}), floats({0, 1e-6F}), {.absolute = 1e-5, .floor = 0x1p-126}).agree);
}

TEST(Undecided, SubnormalNumbersMayBeFlushed) {
  const Value reference = floats({1e-39F, 5e-39F});
  EXPECT_TRUE(undecided(compare(reference, floats({0, 0}), for_float32())));
  EXPECT_TRUE(compare(reference, reference, for_float32()).agree);
  EXPECT_TRUE(compare(floats({1e-39F, 1}), floats({0, 1}), for_float32()).agree);
  const auto half = [](float v) { return tensor<std::uint16_t>(DType::float16, {1}, {float16_from(v)}); };
  const Tolerance tolerance = default_tolerance("float16", DType::float16);
  EXPECT_TRUE(undecided(compare(half(3e-7F), half(2.4e-7F), tolerance)));
  const auto apart = compare(half(1e-5F), half(2e-5F), tolerance);
  EXPECT_FALSE(apart.agree || undecided(apart));
}

TEST(Undecided, ValuesBelowTheNoiseOfARepetitionTellNothing) {
  const Tolerance noisy{.relative = 1e-3, .floor = 0.9};
  EXPECT_TRUE(undecided(compare(floats({1, -1}), floats({0.5F, -0.7F}), noisy)));
  EXPECT_TRUE(compare(floats({10, -1}), floats({10.5F, -0.7F}), noisy).agree);
  EXPECT_FALSE(compare(floats({1, -1}), floats({3, 3}), noisy).agree);
}

TEST(Undecided, OneOutputThatTellsSomethingIsEnough) {
  const auto both = [](const Value& first, const Value& second, const Value& other_first, const Value& other_second,
                       double floor = 0x1p-126) {
    const Tolerance tolerance{.relative = 1e-3, .floor = floor};
    return compare_outputs(names, std::vector<ItemValues>{{first, second}},
                           std::vector<ItemValues>{{other_first, other_second}},
                           std::vector<Tolerance>{for_float32(), tolerance});
  };
  const Value one = floats({1}), zero = floats({0});
  EXPECT_TRUE(both(one, zero, one, zero).agree);
  EXPECT_TRUE(both(zero, zero, zero, zero).undecided);
  EXPECT_TRUE(both(one, floats({0.5F}), one, floats({0.6F}), 1).undecided);  // lost in noise, and not the same
  const auto apart = both(zero, one, zero, floats({2}));
  EXPECT_FALSE(apart.agree || apart.undecided);
}

TEST(PlaceText, IsTheIndicesAndOfImagesRowAndColumnToo) {
  EXPECT_EQ(place_text(7, {1, 1000}, "float32"), "[0, 7]");
  EXPECT_EQ(place_text(92, {1, 2, 7, 9}, "float32"), "[0, 1, 3, 2], row 3, column 2");
  EXPECT_EQ(place_text(50, {1, 1, 8, 8}, "int64"), "[0, 0, 6, 2]");
  EXPECT_EQ(place_text(50, {1, 1, 4, 16}, "float32"), "[0, 0, 3, 2]");
  EXPECT_EQ(place_text(7, {}, "float32"), "element 7");
  EXPECT_EQ(place_text(7, {1, 0, 7, 7}, "no dtype"), "[0, 0, 1, 0]");
}

}  // namespace
}  // namespace infermeter::compare_outputs_test
