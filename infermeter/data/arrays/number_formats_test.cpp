#include "infermeter/data/arrays/number_formats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "infermeter/data/tensor.hpp"

namespace infermeter::number_formats_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Every finite value of a 16-bit type, its neighbour and the middle between them: rounding is right everywhere.
template <class From, class To>
void expect_rounding(From from, To to, std::uint16_t largest) {
  for (unsigned bits = 0; bits < largest; ++bits) {
    const auto below = static_cast<std::uint16_t>(bits);
    const auto above = static_cast<std::uint16_t>(bits + 1);
    const auto low = static_cast<float>(to(below));
    const auto middle = static_cast<float>((to(below) + to(above)) / 2);
    ASSERT_EQ(from(low), below);
    ASSERT_EQ(from(-low), below | 0x8000u);
    ASSERT_EQ(from(middle), bits % 2 == 0 ? below : above) << bits;
    ASSERT_EQ(from(std::nextafter(middle, -1.0F)), below) << bits;
    ASSERT_EQ(from(std::nextafter(middle, kInfinity)), above) << bits;
  }
}

TEST(NumberFormats, Float16RoundsToNearestEven) {
  expect_rounding(float16_from, double_from_float16, 0x7BFF);
  EXPECT_EQ(float16_from(65519.996F), 0x7BFF);
  EXPECT_EQ(float16_from(65520.0F), 0x7C00);  // half way to what would be the next value
  EXPECT_EQ(float16_from(-kInfinity), 0xFC00);
  EXPECT_TRUE(std::isnan(double_from_float16(float16_from(std::nanf("")))));
  EXPECT_EQ(double_from_float16(0x3555), 0.333251953125);
  EXPECT_EQ(double_from_float16(0x0001), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::signbit(double_from_float16(0x8000)));
}

TEST(NumberFormats, Bfloat16RoundsToNearestEven) {
  // Below the smallest normal value the middles are not floats.
  for (unsigned bits = 0x0080; bits < 0x7F7F; ++bits) {
    const auto low = static_cast<float>(double_from_bfloat16(static_cast<std::uint16_t>(bits)));
    const auto high = static_cast<float>(double_from_bfloat16(static_cast<std::uint16_t>(bits + 1)));
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(bfloat16_from(low), bits);
    ASSERT_EQ(bfloat16_from(middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(bfloat16_from(std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(bfloat16_from(std::nextafter(middle, kInfinity)), bits + 1);
  }
  EXPECT_EQ(bfloat16_from(kInfinity), 0x7F80);
  EXPECT_EQ(bfloat16_from(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(double_from_bfloat16(bfloat16_from(std::nanf("")))));
  EXPECT_TRUE(std::isnan(double_from_bfloat16(bfloat16_from(-std::numeric_limits<float>::signaling_NaN()))));
}

TEST(NumberFormats, SmallFloatsHaveTheValuesOfTheirSpecification) {
  EXPECT_EQ(double_from_small_float(DType::float8e4m3fn, 0x7E), 448);
  EXPECT_TRUE(std::isnan(double_from_small_float(DType::float8e4m3fn, 0x7F)));
  EXPECT_TRUE(std::isnan(double_from_small_float(DType::float8e4m3fn, 0xFF)));
  EXPECT_EQ(double_from_small_float(DType::float8e4m3fn, 0x01), std::ldexp(1.0, -9));
  EXPECT_EQ(double_from_small_float(DType::float8e4m3fnuz, 0x7F), 240);
  EXPECT_EQ(double_from_small_float(DType::float8e4m3fnuz, 0x01), std::ldexp(1.0, -10));
  EXPECT_TRUE(std::isnan(double_from_small_float(DType::float8e4m3fnuz, 0x80)));
  EXPECT_EQ(double_from_small_float(DType::float8e5m2, 0x7B), 57344);
  EXPECT_EQ(double_from_small_float(DType::float8e5m2, 0xFC), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(double_from_small_float(DType::float8e5m2, 0x7D)));
  EXPECT_EQ(double_from_small_float(DType::float8e5m2fnuz, 0x7F), 57344);
  EXPECT_TRUE(std::isnan(double_from_small_float(DType::float8e5m2fnuz, 0x80)));
  const double expected[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint8_t bits = 0; bits < 8; ++bits) {
    EXPECT_EQ(double_from_small_float(DType::float4e2m1, bits), expected[bits]);
    EXPECT_EQ(double_from_small_float(DType::float4e2m1, bits | 8u), -expected[bits]);
  }
}

TEST(NumberFormats, SmallFloatsRoundAndSaturate) {
  for (const DType dtype : {DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz}) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      const double value = double_from_small_float(dtype, static_cast<std::uint8_t>(bits));
      if (std::isfinite(value)) {
        EXPECT_EQ(small_float_from(dtype, value), bits) << to_string(dtype) << " " << bits;
      }
    }
    EXPECT_TRUE(std::isnan(double_from_small_float(dtype, small_float_from(dtype, std::nan("")))));
  }
  EXPECT_EQ(small_float_from(DType::float8e4m3fn, 1e9), 0x7E);
  EXPECT_EQ(small_float_from(DType::float8e4m3fn, -std::numeric_limits<double>::infinity()), 0xFE);
  EXPECT_EQ(small_float_from(DType::float4e2m1, 5.0), 6);  // between 4 (pattern 6) and 6 (7): even
  EXPECT_EQ(small_float_from(DType::float4e2m1, 2.5), 4);  // between 2 (4) and 3 (5)
  EXPECT_EQ(small_float_from(DType::float4e2m1, 2.51), 5);
}

}  // namespace
}  // namespace infermeter::number_formats_test
