#include "infermeter/data/synthetic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "infermeter/data/arrays/number_formats.hpp"
#include "infermeter/data/make_data.hpp"
#include "infermeter/data/random.hpp"

namespace infermeter::synthetic_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

Port port(std::string name, DType dtype, Shape shape, std::vector<std::string> dimension_names = {}) {
  const bool has_batch = !shape.empty() && shape.front() < 0;
  return {.name = std::move(name),
          .dtype = dtype,
          .shape = std::move(shape),
          .dimension_names = dimension_names,
          .batch_axis = has_batch ? std::optional<std::int64_t>(0) : std::nullopt};
}

std::vector<double> drawn(const std::string& text, DType dtype, std::int64_t count) {
  const auto distribution = parse_distribution(text);
  EXPECT_TRUE(distribution.ok());
  return *to_doubles(synthetic_numbers(dtype, {count}, *distribution, 1, 0, 0));
}

Result<DataSet> with(const std::string& name, const std::string& distribution, const Port& input) {
  return make_data({.distributions = {{name, distribution}}}, {&input, 1});
}

double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

// Largest distance between the empirical and the wanted cumulative distribution.
template <class Cumulative>
double kolmogorov_smirnov(std::vector<double> x, Cumulative cumulative) {
  std::sort(x.begin(), x.end());
  double worst = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double wanted = cumulative(x[i]);
    worst = std::max({worst, wanted - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - wanted});
  }
  return worst;
}

// These bytes are a promise: results of different versions and machines are compared over the same inputs.
TEST(Synthetic, BytesNeverChange) {
  Random random(1, 0, 0);
  EXPECT_EQ(random.next(), 890001543279437726u);
  const Tensor tensor = synthetic_numbers(DType::float32, {1000}, {}, 1, 0, 0);
  const Value value{.tensor = tensor};
  EXPECT_EQ(digest({&value, 1}), 2757978106599947442u);
  const Value normal{.tensor = synthetic_numbers(DType::float64, {1000}, *parse_distribution("normal:3:0.1"), 1, 0, 0),
                     .elements = {}};
  EXPECT_EQ(digest({&normal, 1}), 16599808518657227834u);
}

TEST(Synthetic, UniformIsUniform) {
  const auto x = drawn("uniform:-1:1", DType::float64, 100'000);
  EXPECT_LT(kolmogorov_smirnov(x, [](double v) { return (v + 1) / 2; }), 1.95 / std::sqrt(1e5));  // p = 0.001
  const auto shifted = drawn("uniform:10:30", DType::float32, 10'000);
  EXPECT_GE(*std::min_element(shifted.begin(), shifted.end()), 10);
  EXPECT_LE(*std::max_element(shifted.begin(), shifted.end()), 30);
  EXPECT_NEAR(mean_of(shifted), 20, 0.2);
}

TEST(Synthetic, NormalIsNormal) {
  const auto x = drawn("normal:5:2", DType::float64, 100'000);
  const auto cumulative = [](double v) { return 0.5 * std::erfc(-(v - 5) / 2 / std::sqrt(2.0)); };
  EXPECT_LT(kolmogorov_smirnov(x, cumulative), 1.95 / std::sqrt(1e5));
  // As many beyond three standard deviations as there should be: 270 ± 16 of 100,000.
  const auto far = std::count_if(x.begin(), x.end(), [](double v) { return std::fabs(v - 5) > 6; });
  EXPECT_NEAR(static_cast<double>(far), 270, 70);
}

TEST(Synthetic, IntegersIncludeBothEnds) {
  for (const DType dtype : {DType::int8, DType::int16, DType::int32, DType::int64, DType::float32, DType::int4}) {
    const auto x = drawn("integers:-3:4", dtype, 4000);
    EXPECT_EQ(*std::min_element(x.begin(), x.end()), -3) << to_string(dtype);
    EXPECT_EQ(*std::max_element(x.begin(), x.end()), 4) << to_string(dtype);
    EXPECT_NEAR(mean_of(x), 0.5, 0.15);
  }
  EXPECT_THAT(drawn("integers:7:7", DType::uint8, 5), Each(7));
  EXPECT_THAT(drawn("integers:-9223372036854775808:9223372036854775807", DType::int64, 5).size(), 5u);
}

TEST(Synthetic, ZerosAndOnesOfEveryType) {
  for (int number = 1; number <= 23; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (dtype == DType::string) continue;
    EXPECT_THAT(drawn("zeros", dtype, 3), Each(0)) << to_string(dtype);
    auto ones = drawn("ones", dtype, 3);
    if (ones.size() == 6) {
      EXPECT_THAT(ones, ElementsAre(1, 1, 1, 0, 0, 0));  // complex
    } else {
      EXPECT_THAT(ones, Each(1)) << to_string(dtype);
    }
  }
}

// Inputs for a model in several precisions are the same numbers, rounded.
TEST(Synthetic, NarrowFloatsAreTheRoundedWideOnes) {
  const auto wide = drawn("normal:0:1", DType::float32, 2000);
  const auto half = drawn("normal:0:1", DType::float16, 2000);
  const auto brain = drawn("normal:0:1", DType::bfloat16, 2000);
  const auto twice = drawn("normal:0:1", DType::float64, 2000);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const auto x = static_cast<float>(wide[i]);
    ASSERT_EQ(half[i], double_from_float16(float16_from(x)));
    ASSERT_EQ(brain[i], double_from_bfloat16(bfloat16_from(x)));
    ASSERT_EQ(static_cast<float>(twice[i]), x);
  }
}

TEST(Synthetic, DependsOnSeedIndexAndItemButNotOnTheName) {
  const Port a = port("a", DType::float32, {2, 50});
  const Port b = port("b", DType::float32, {2, 50});
  const auto first = make_data({}, {&a, 1});
  EXPECT_EQ(digest(first->items[0].inputs), digest(make_data({}, {&b, 1})->items[0].inputs));
  EXPECT_NE(digest(first->items[0].inputs), digest(make_data({.seed = 2}, {&a, 1})->items[0].inputs));
  const std::vector<Port> both{a, b};
  const auto pair = make_data({.limit = 3}, both);
  ASSERT_EQ(pair->items.size(), 3u);
  EXPECT_EQ(pair->items[2].name, "synthetic 2");
  EXPECT_EQ(digest(first->items[0].inputs), digest({pair->items[0].inputs.data(), 1}));
  EXPECT_NE(digest({pair->items[0].inputs.data(), 1}), digest({pair->items[0].inputs.data() + 1, 1}));
  EXPECT_NE(digest(pair->items[0].inputs), digest(pair->items[1].inputs));
}

TEST(Synthetic, DefaultsFollowTypeAndName) {
  const std::vector<Port> ports{
      port("x", DType::float32, {4000}),
      port("n", DType::int32, {4000}),
      port("input_ids", DType::int64, {4000}),
      port("token_type_ids", DType::int64, {4000}),
      port("attention_mask", DType::int64, {9}),
      port("flag", DType::boolean, {4000}),
      port("text", DType::string, {4000}),
      port("z", DType::complex64, {2000}),
      port("q", DType::int4, {4000}),
  };
  const double expected[][2] = {{-1, 1}, {0, 9}, {0, 999}, {0, 1}, {1, 1}, {0, 1}, {}, {-1, 1}, {0, 7}};
  const auto set = make_data({}, ports);
  ASSERT_TRUE(set.ok()) << set.error().message;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Tensor& tensor = set->items[0].inputs[i].tensor;
    EXPECT_EQ(tensor.shape, ports[i].shape);
    if (ports[i].dtype == DType::string) {
      EXPECT_EQ(tensor.strings.size(), 4000u);
      EXPECT_THAT(tensor.strings, testing::Contains("meter"));
      continue;
    }
    const auto x = *to_doubles(tensor);
    EXPECT_NEAR(*std::min_element(x.begin(), x.end()), expected[i][0], 0.01) << ports[i].name;
    EXPECT_NEAR(*std::max_element(x.begin(), x.end()), expected[i][1], 0.01) << ports[i].name;
  }
}

TEST(Synthetic, TheOneForAnInputBeatsTheOneForAll) {
  const std::vector<Port> ports{port("a", DType::float32, {4}), port("b", DType::float32, {4}),
                                port("n", DType::int64, {4})};
  const auto set = make_data({.distributions = {{"b", "ones"}, {"", "uniform:5:6"}}}, ports);
  EXPECT_GE((*to_doubles(set->items[0].inputs[0].tensor))[0], 5);
  EXPECT_EQ((*to_doubles(set->items[0].inputs[1].tensor))[0], 1);
  EXPECT_LE((*to_doubles(set->items[0].inputs[2].tensor))[0], 9);  // uniform suits no integers: the default
}

TEST(Synthetic, TheFirstDimensionBecomesTheBatch) {
  const Port image = port("x", DType::float32, {-1, 3, 2, 2}, {"N", "", "", ""});
  EXPECT_EQ(make_data({.batch_size = 5}, {&image, 1})->items[0].inputs[0].tensor.shape, (Shape{5, 3, 2, 2}));
  const Port fixed = port("x", DType::float32, {2, 3});
  EXPECT_EQ(make_data({.batch_size = 5}, {&fixed, 1})->items[0].inputs[0].tensor.shape, (Shape{2, 3}));
}

TEST(Synthetic, OtherDynamicDimensionsAreErrors) {
  const Port named = port("x", DType::float32, {-1, 3, -1, 8}, {"N", "", "height", ""});
  EXPECT_THAT(make_data({}, {&named, 1}).error().message,
              HasSubstr("input 'x' is float32 [?, 3, ?, 8] and its dimension 2 'height' has no size; give it with "
                        "--dim height=VALUE"));
  const Port nameless = port("x", DType::float32, {1, -1});
  EXPECT_THAT(make_data({}, {&nameless, 1}).error().message, HasSubstr("neither a size nor a name"));
  Port any = port("x", DType::float32, {});
  any.rank_known = false;
  EXPECT_THAT(make_data({}, {&any, 1}).error().message, HasSubstr("input 'x' declares no shape"));
}

TEST(Synthetic, BadDistributionsSayWhatIsAllowed) {
  const Port x = port("x", DType::float32, {2});
  for (const char* text : {"gauss:0:1", "", "uniform", "uniform:1", "uniform:2:1", "uniform:1:1", "uniform:nan:1",
                           "uniform:-1e308:1e308", "normal:0:0", "normal:0:-1", "integers:1.5:2", "integers:3:2",
                           "integers:0:99999999999999999999", "zeros:1", "uniform:0:1:2", "uniform:0x1:2"}) {
    const auto made = with("x", text, x);
    ASSERT_FALSE(made.ok()) << text;
    EXPECT_EQ(made.error().kind, ErrorKind::usage);
    EXPECT_THAT(made.error().message, HasSubstr("uniform:LOW:HIGH, normal:MEAN:SD, integers:LOW:HIGH, zeros and ones"));
  }
}

TEST(Synthetic, MisfitsAreErrors) {
  EXPECT_THAT(with("y", "ones", port("x", DType::float32, {2})).error().message,
              HasSubstr("given for input 'y', but the model's inputs are 'x'"));
  EXPECT_THAT(with("x", "uniform:0:1", port("x", DType::int64, {2})).error().message,
              HasSubstr("input 'x' is int64, which 'uniform:0:1' cannot be drawn as; integers:LOW:HIGH"));
  EXPECT_THAT(with("", "normal:0:1", port("x", DType::int64, {2})).error().message, HasSubstr("input 'x' is int64"));
  EXPECT_THAT(with("x", "ones", port("x", DType::string, {2})).error().message, HasSubstr("take no distribution"));
  EXPECT_THAT(with("x", "integers:0:256", port("x", DType::uint8, {2})).error().message,
              HasSubstr("input 'x': the distribution's range does not fit the type uint8"));
  EXPECT_FALSE(with("x", "integers:-1:1", port("x", DType::uint64, {2})).ok());
  EXPECT_FALSE(with("x", "integers:-9:1", port("x", DType::int4, {2})).ok());
  EXPECT_FALSE(with("x", "integers:0:2", port("x", DType::boolean, {2})).ok());
  EXPECT_FALSE(with("x", "uniform:0:65505", port("x", DType::float16, {2})).ok());
  EXPECT_FALSE(with("x", "normal:0:30000", port("x", DType::float16, {2})).ok());
  EXPECT_TRUE(with("x", "uniform:0:65504", port("x", DType::float16, {2})).ok());
}

TEST(Synthetic, RefusesWhatIsTooLargeOrHasNoTensors) {
  const Port huge = port("x", DType::float32, {1 << 20, 1 << 20});
  EXPECT_THAT(make_data({}, {&huge, 1}).error().message, HasSubstr("larger than 4 GiB"));
  const Port large = port("x", DType::float32, {1 << 20});
  EXPECT_THAT(make_data({.most_bytes = 4'000'000}, {&large, 1}).error().message,
              HasSubstr("larger than 4 MB, a third of the memory limit"));
  EXPECT_TRUE(make_data({.most_bytes = 5'000'000}, {&large, 1}).ok());
  const Port beyond = port("x", DType::float32, {std::numeric_limits<std::int64_t>::max(), 9});
  EXPECT_FALSE(make_data({}, {&beyond, 1}).ok());
  const Port half = port("x", DType::float32, {1 << 29});
  EXPECT_THAT(make_data({.limit = 3}, {&half, 1}).error().message, HasSubstr("--data-limit"));
  EXPECT_THAT(make_data({.limit = 1'000'001}, {}).error().message, HasSubstr("at most 1000000"));
  Port sequence = port("s", DType::float32, {});
  sequence.kind = Value::Kind::sequence;
  EXPECT_THAT(make_data({}, {&sequence, 1}).error().message,
              HasSubstr("input 's' is a sequence of float32, for which no synthetic data can be made"));
}

TEST(Synthetic, NoInputsAreOneEmptyItem) {
  const auto set = make_data({}, {});
  ASSERT_EQ(set->items.size(), 1u);
  EXPECT_TRUE(set->items[0].inputs.empty());
}

}  // namespace
}  // namespace infermeter::synthetic_test
