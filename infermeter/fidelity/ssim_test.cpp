#include "infermeter/fidelity/ssim.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/data/arrays/number_formats.hpp"
#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/test_targets.hpp"

namespace infermeter::ssim_test {
namespace {

using testing::HasSubstr;

std::vector<float> noise(std::size_t count, std::uint32_t state) {
  std::vector<float> values(count);
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8U) / 16777216.0F;
  }
  return values;
}

struct Pair {
  Tensor reference, candidate;
};

// r = noise, c = r + 0.5 other noise, in float32.
Pair noisy(const Shape& shape, std::uint32_t seed) {
  const std::vector<float> r = noise(*element_count(shape), seed);
  std::vector<float> c = noise(r.size(), seed + 1);
  for (std::size_t i = 0; i < r.size(); ++i) c[i] = r[i] + 0.5F * c[i];
  return {make_tensor<float>(DType::float32, shape, r), make_tensor<float>(DType::float32, shape, c)};
}

double ssim(const Pair& pair, const SsimOptions& options) {
  const auto result = structural_similarity(pair.reference, pair.candidate, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? result.value() : -2;
}

std::string error_of(const Pair& pair, const SsimOptions& options) {
  const auto result = structural_similarity(pair.reference, pair.candidate, options);
  return result.ok() ? std::string() : result.error().message;
}

// The paper's formulas, window by window and each in two passes; [images, depth, height, width, channels], a depth of 1
// in two dimensions.
double by_the_book(const Pair& pair, const std::array<std::size_t, 5>& sides, const SsimOptions& options) {
  const auto [images, depth, height, width, channels] = sides;
  std::vector<double> r(*element_count(pair.reference.shape)), c(r.size());
  read_values(pair.reference, 0, r);
  read_values(pair.candidate, 0, c);
  const bool gaussian = options.window == SsimWindow::gaussian, volume = options.dimensions == 3;
  const std::size_t size = gaussian ? 11 : static_cast<std::size_t>(options.size), deep = volume ? size : 1;
  std::vector<double> weight(size);
  double all = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double x = static_cast<double>(i) - 5;
    weight[i] = gaussian ? std::exp(-x * x / (2 * 1.5 * 1.5)) : 1;
    all += weight[i];
  }
  for (double& w : weight) w /= all;
  const double n = std::pow(static_cast<double>(size), options.dimensions);
  const double sample = options.sample_covariance ? n / (n - 1) : 1;
  const double range = options.data_range ? *options.data_range : std::ranges::max(r) - std::ranges::min(r);
  const double c1 = std::pow(options.k1 * range, 2), c2 = std::pow(options.k2 * range, 2);
  double sum = 0;
  std::size_t windows = 0;
  const auto at = [&](std::size_t image, std::size_t z, std::size_t y, std::size_t x, std::size_t channel) {
    return (((image * depth + z) * height + y) * width + x) * channels + channel;
  };
  const auto similarity = [&](std::size_t image, std::size_t z, std::size_t y, std::size_t x, std::size_t channel) {
    const auto each = [&](auto use) {
      for (std::size_t k = 0; k < deep; ++k) {
        for (std::size_t j = 0; j < size; ++j) {
          for (std::size_t i = 0; i < size; ++i) {
            use((volume ? weight[k] : 1) * weight[j] * weight[i], at(image, z + k, y + j, x + i, channel));
          }
        }
      }
    };
    double mean_r = 0, mean_c = 0, var_r = 0, var_c = 0, both = 0;
    each([&](double w, std::size_t i) { mean_r += w * r[i], mean_c += w * c[i]; });
    each([&](double w, std::size_t i) {
      var_r += w * (r[i] - mean_r) * (r[i] - mean_r);
      var_c += w * (c[i] - mean_c) * (c[i] - mean_c);
      both += w * (r[i] - mean_r) * (c[i] - mean_c);
    });
    return (2 * mean_r * mean_c + c1) * (2 * sample * both + c2) /
           ((mean_r * mean_r + mean_c * mean_c + c1) * (sample * (var_r + var_c) + c2));
  };
  for (std::size_t image = 0; image < images; ++image) {
    for (std::size_t z = 0; z + deep <= depth; ++z) {
      for (std::size_t y = 0; y + size <= height; ++y) {
        for (std::size_t x = 0; x + size <= width; ++x) {
          for (std::size_t channel = 0; channel < channels; ++channel, ++windows)
            sum += similarity(image, z, y, x, channel);
        }
      }
    }
  }
  return sum / static_cast<double>(windows);
}

TEST(Ssim, EverySizeOnEveryTarget) {
  const auto check = [](const Shape& shape, const std::array<std::size_t, 5>& sides, const SsimOptions& options) {
    const Pair pair = noisy(shape, 31);
    const double expected = by_the_book(pair, sides, options);
    on_each_target([&] { EXPECT_NEAR(ssim(pair, options), expected, 1e-10) << to_string(shape); });
  };
  check({3, 3}, {1, 1, 3, 3, 1}, {.size = 3});
  for (const std::int64_t width : {7, 8, 9, 15, 520, 1033}) {
    const auto w = static_cast<std::size_t>(width);
    check({2, 9, width}, {2, 1, 9, w, 1}, {});
    check({9, width, 3}, {1, 1, 9, w, 3}, {.channels_last = true});
    check({width, 8}, {1, 1, w, 8, 1}, {.size = 5, .data_range = 2});
    check({8, 7, width}, {1, 8, 7, w, 1}, {.dimensions = 3, .data_range = 2});
  }
  check({2, 8, 9, 10, 2}, {2, 8, 9, 10, 2}, {.dimensions = 3, .channels_last = true});
  check({13, 11, 12}, {1, 13, 11, 12, 1}, {.dimensions = 3, .window = SsimWindow::gaussian});
}

// Sums that slide over the image would keep the rounding errors of the large pixel.
TEST(Ssim, ALargePixelSpoilsOnlyItsOwnWindows) {
  on_each_target([] {
    const Pair pair = noisy({40, 50}, 41);
    std::vector<float> values(pair.reference.as<float>().begin(), pair.reference.as<float>().end());
    values[5 * 50 + 5] = 1e12F;
    const Pair spoilt{make_tensor<float>(DType::float32, {40, 50}, values), pair.candidate};
    const SsimOptions options{.data_range = 1};
    EXPECT_NEAR(ssim(spoilt, options), by_the_book(spoilt, {1, 1, 40, 50, 1}, options), 1e-6);
  });
}

template <class T, class To>
Tensor converted(DType dtype, const Tensor& floats, To to) {
  std::vector<T> elements;
  for (const float value : floats.as<float>()) elements.push_back(static_cast<T>(to(value)));
  return make_tensor<T>(dtype, floats.shape, elements);
}

TEST(Ssim, EveryTypeOnEveryTarget) {
  on_each_target([] {
    const Pair pair = noisy({9, 21}, 51);
    const auto check = [&](auto convert) {
      const Pair typed{convert(pair.reference), convert(pair.candidate)};
      const SsimOptions options{.data_range = 100};
      EXPECT_NEAR(ssim(typed, options), by_the_book(typed, {1, 1, 9, 21, 1}, options), 1e-10)
          << to_string(typed.reference.dtype);
    };
    const auto hundred = [](float value) { return 80 * value; };
    check([&](const Tensor& t) { return converted<double>(DType::float64, t, hundred); });
    check([&](const Tensor& t) { return converted<std::uint16_t>(DType::float16, t, float16_from); });
    check([&](const Tensor& t) { return converted<std::uint16_t>(DType::bfloat16, t, bfloat16_from); });
    check([&](const Tensor& t) { return converted<std::int8_t>(DType::int8, t, hundred); });
    check([&](const Tensor& t) { return converted<std::uint8_t>(DType::uint8, t, hundred); });
    check([&](const Tensor& t) { return converted<std::int16_t>(DType::int16, t, hundred); });
    check([&](const Tensor& t) { return converted<std::uint16_t>(DType::uint16, t, hundred); });
    check([&](const Tensor& t) { return converted<std::int32_t>(DType::int32, t, hundred); });
    check([&](const Tensor& t) { return converted<std::uint32_t>(DType::uint32, t, hundred); });
    check([&](const Tensor& t) { return converted<std::int64_t>(DType::int64, t, hundred); });
    check([&](const Tensor& t) {
      return converted<std::uint8_t>(DType::boolean, t, [](float value) { return value > 0.5F ? 1 : 0; });
    });
  });
}

// The numbers are those of skimage.metrics.structural_similarity on the same values in float64.
TEST(Ssim, UniformWindowIsScikitImages) {
  const Pair pair = noisy({12, 15}, 1);
  EXPECT_NEAR(ssim(pair, {}), 0.8234501325997476, 1e-7);
  EXPECT_NEAR(ssim(pair, {.data_range = 10}), 0.8536959353811029, 1e-7);
  EXPECT_NEAR(ssim(pair, {.data_range = 10, .sample_covariance = false}), 0.8541114072609559, 1e-7);
  EXPECT_NEAR(ssim(pair, {.size = 3}), 0.8081196512819208, 1e-7);
  EXPECT_NEAR(ssim(pair, {.k1 = 0.02, .k2 = 0.5}), 0.8752491177903836, 1e-7);
}

TEST(Ssim, GaussianWindowIsScikitImages) {
  const Pair pair = noisy({12, 15}, 1);
  EXPECT_NEAR(ssim(pair, {.window = SsimWindow::gaussian, .data_range = 10}), 0.8630161811054148, 1e-7);
  EXPECT_NEAR(ssim(pair, {.window = SsimWindow::gaussian, .data_range = 10, .sample_covariance = false}),
              0.8631674353226124, 1e-7);
}

TEST(Ssim, VolumesAreScikitImages) {
  EXPECT_NEAR(ssim(noisy({9, 8, 10}, 3), {.dimensions = 3, .data_range = 10}), 0.8490791669461258, 1e-7);
  EXPECT_NEAR(ssim(noisy({11, 12, 13}, 5), {.dimensions = 3, .window = SsimWindow::gaussian}), 0.8236174612722938,
              1e-7);
}

TEST(Ssim, ImagesAndChannelsAreAveraged) {
  EXPECT_NEAR(ssim(noisy({9, 10, 3}, 7), {.channels_last = true}), 0.8188195137582248, 1e-7);
  EXPECT_NEAR(ssim(noisy({2, 3, 9, 10}, 9), {}), 0.8123947537799983, 1e-7);
}

TEST(Ssim, IntegersHaveAStructure) {
  const Pair floats = noisy({8, 9, 10}, 11);
  std::vector<std::uint8_t> r, c;
  for (const float value : floats.reference.as<float>()) r.push_back(static_cast<std::uint8_t>(value * 200));
  for (const float value : floats.candidate.as<float>()) c.push_back(static_cast<std::uint8_t>(value * 150));
  const Pair bytes{make_tensor<std::uint8_t>(DType::uint8, {8, 9, 10}, r),
                   make_tensor<std::uint8_t>(DType::uint8, {8, 9, 10}, c)};
  EXPECT_NEAR(ssim(bytes, {.dimensions = 3, .data_range = 255}), 0.8811387099582282, 1e-7);
}

TEST(Ssim, EqualImagesHaveOne) {
  const Pair pair = noisy({1, 2, 11, 11}, 1);
  for (const SsimWindow window : {SsimWindow::uniform, SsimWindow::gaussian}) {
    EXPECT_EQ(ssim({pair.reference, pair.reference}, {.window = window}), 1);
  }
  const Tensor constant = make_tensor<float>(DType::float32, {8, 8}, std::vector<float>(64, 3.5F));
  EXPECT_EQ(ssim({constant, constant}, {}), 1);
}

// A large offset must not eat the digits of the variance; squares must not leave the range of doubles.
TEST(Ssim, DoesNotDependOnScaleOrLoseDigits) {
  const Pair pair = noisy({16, 16}, 21);
  const double plain = ssim(pair, {});
  const auto changed = [](const Tensor& tensor, double factor, double offset) {
    std::vector<double> values;
    for (const float value : tensor.as<float>()) values.push_back(factor * static_cast<double>(value) + offset);
    return make_tensor<double>(DType::float64, tensor.shape, values);
  };
  for (const double factor : {1e-200, 1e-30, 1e30, 1e200}) {
    EXPECT_NEAR(ssim({changed(pair.reference, factor, 0), changed(pair.candidate, factor, 0)}, {}), plain, 1e-9);
  }
  const double shifted = ssim({changed(pair.reference, 1, 1e6), changed(pair.candidate, 1, 1e6)}, {});
  // With means that far above the range the luminance term is 1, and what is left is contrast and structure.
  EXPECT_NEAR(shifted, ssim({changed(pair.reference, 1, 1e3), changed(pair.candidate, 1, 1e3)}, {}), 1e-5);
}

TEST(Ssim, NonFiniteValuesGiveNan) {
  const Pair pair = noisy({8, 8}, 1);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> values(pair.reference.as<float>().begin(), pair.reference.as<float>().end());
    values[9] = bad;
    const Tensor spoilt = make_tensor<float>(DType::float32, {8, 8}, values);
    EXPECT_TRUE(std::isnan(ssim({pair.reference, spoilt}, {})));
    EXPECT_TRUE(std::isnan(ssim({spoilt, pair.candidate}, {})));
    EXPECT_TRUE(std::isnan(ssim({spoilt, spoilt}, {})));
  }
}

TEST(Ssim, SaysWhatDoesNotFit) {
  const Pair pair = noisy({8, 9}, 1);
  EXPECT_THAT(error_of({pair.reference, noisy({9, 8}, 1).candidate}, {}),
              HasSubstr("the same shape; these are [8, 9] and [9"));
  EXPECT_THAT(error_of({pair.reference, {DType::float64, {8, 9}, {}, {}}}, {}),
              HasSubstr("the same type; these are float32 and float64"));
  EXPECT_THAT(error_of(pair, {.dimensions = 3}), HasSubstr("shape [8, 9] has no 3-dimensional images"));
  EXPECT_THAT(error_of(pair, {.dimensions = 1}), HasSubstr("dimensions: expected 2 or 3, got 1"));
  EXPECT_THAT(error_of(pair, {.channels_last = true}), HasSubstr("with their channels last"));
  EXPECT_THAT(error_of(pair, {.size = 4}), HasSubstr("expected an odd window of at least 3, got 4"));
  EXPECT_THAT(error_of(pair, {.size = 1}), HasSubstr("got 1"));
  EXPECT_THAT(error_of(pair, {.size = 9}),
              HasSubstr("a window of 9 does not fit into images whose shortest side is 8"));
  EXPECT_THAT(error_of(pair, {.window = SsimWindow::gaussian}), HasSubstr("a window of 11"));
  EXPECT_THAT(error_of(noisy({5, 9, 9}, 1), {.dimensions = 3}), HasSubstr("shortest side is 5"));
  EXPECT_THAT(error_of(pair, {.data_range = -1}), HasSubstr("data range: expected a number above 0, got -1"));
  const Tensor constant = make_tensor<float>(DType::float32, {8, 9}, std::vector<float>(72, 1));
  EXPECT_THAT(error_of({constant, pair.candidate}, {}), HasSubstr("the reference is constant"));
  EXPECT_THAT(error_of({constant, {DType::float32, {8, 9}, {}, {}}}, {}), HasSubstr("does not fit its shape"));
  const Tensor complex{DType::complex64, {8, 9}, {}, {}};
  EXPECT_THAT(error_of({complex, complex}, {}), HasSubstr("SSIM needs real numbers; these are complex64"));
  const Tensor none{DType::float32, {0, 8, 9}, {}, {}};
  EXPECT_THAT(error_of({none, none}, {}), HasSubstr("no images in shape [0, 8, 9]"));
}

TEST(Ssim, OutputsThatLookLikeImages) {
  EXPECT_EQ(image_like(DType::float32, {1, 3, 7, 7}).value().dimensions, 2);
  EXPECT_EQ(image_like(DType::float16, {1, 1, 8, 7, 9}).value().dimensions, 3);
  EXPECT_FALSE(image_like(DType::float32, {1, 3, 6, 7}));
  EXPECT_FALSE(image_like(DType::float32, {1, 1, 7, 7, 6}));
  EXPECT_FALSE(image_like(DType::int64, {1, 3, 7, 7}));
  EXPECT_FALSE(image_like(DType::float32, {8, 8, 8}));
  EXPECT_FALSE(image_like(DType::float32, {0, 3, 7, 7}));
  EXPECT_FALSE(image_like(DType::float32, {1, 1, 1, 7, 7, 7}));
}

}  // namespace
}  // namespace infermeter::ssim_test
