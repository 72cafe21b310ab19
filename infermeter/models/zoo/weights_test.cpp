#include "infermeter/models/zoo/weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace infermeter::weights_test {
namespace {

std::vector<float> floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

struct Moments {
  double mean = 0, sd = 0, kurtosis = 0;
};

Moments moments(const std::vector<float>& values) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) m.mean += v / n;
  double fourth = 0;
  for (const double v : values) {
    m.sd += (v - m.mean) * (v - m.mean) / n;
    fourth += std::pow(v - m.mean, 4) / n;
  }
  m.kurtosis = fourth / (m.sd * m.sd);
  m.sd = std::sqrt(m.sd);
  return m;
}

// Worked out by hand from SplitMix64 and FNV-1a in exact integers (Python), rounded once to float32.
TEST(Weights, AreTheSameBitsEverywhere) {
  std::vector<std::uint32_t> bits;
  for (const float value : floats(draw_weights("conv1.weight", 4, {.mean = 0, .sd = 1}))) {
    bits.push_back(std::bit_cast<std::uint32_t>(value));
  }
  EXPECT_THAT(bits, testing::ElementsAre(0xbf0095a0U, 0x3f7192dfU, 0x3f1becd8U, 0xbea7a14aU));
}

TEST(Weights, HaveTheMomentsAskedFor) {
  const auto m = moments(floats(draw_weights("w", 1 << 20, {.mean = 2, .sd = 0.25})));
  EXPECT_NEAR(m.mean, 2, 0.25 * 4 / 1024);
  EXPECT_NEAR(m.sd, 0.25, 0.25 * 0.004);
  EXPECT_NEAR(m.kurtosis, 2.7, 0.02);  // four uniforms: 3 - 6 / (5 · 4); one would have 1.8, a normal 3
}

TEST(Weights, TheStreamIsGivenByTheName) {
  EXPECT_EQ(draw_weights("a", 100, {}), draw_weights("a", 100, {}));
  EXPECT_NE(draw_weights("a", 100, {}), draw_weights("b", 100, {}));
  EXPECT_EQ(draw_weights("a", 100, {}), draw_weights("a", 9000, {}).substr(0, 400));  // across blocks too
}

TEST(Weights, RowsSumToZeroWhereAsked) {
  for (const std::size_t row : {std::size_t{27}, std::size_t{4096}, std::size_t{5000}}) {
    const auto values = floats(draw_weights("w", 3 * row, {.sd = 1, .zero_sum_row = row}));
    for (std::size_t begin = 0; begin < values.size(); begin += row) {
      double sum = 0;
      for (std::size_t i = 0; i < row; ++i) sum += values[begin + i];
      EXPECT_LT(std::abs(sum), 1e-4 * static_cast<double>(row)) << row;  // left alone: about √row
    }
  }
}

TEST(Weights, TransposedIsTheTranspose) {
  const std::size_t rows = 70, columns = 130;  // not multiples of the tile
  const auto matrix = draw_weights("m", rows * columns, {});
  const auto turned = floats(transposed(matrix, rows, columns));
  const auto straight = floats(matrix);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) ASSERT_EQ(turned[c * rows + r], straight[r * columns + c]);
  }
}

}  // namespace
}  // namespace infermeter::weights_test
