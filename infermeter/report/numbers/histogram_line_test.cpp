#include "infermeter/report/numbers/histogram_line.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace infermeter::histogram_line_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

using Lists = std::vector<std::vector<double>>;

std::vector<double> up_to(int count) {
  std::vector<double> values;
  for (int i = 1; i <= count; ++i) values.push_back(i);
  return values;
}

TEST(HistogramLine, IsAsHighAsEachCellsShareOfTheFullest) {
  const std::vector<double> values = {0, 0, 0, 0, 1, 1, 2, 7, 7, 7};
  EXPECT_EQ(histogram_line(values, {0, 8}, 8), "█▄▂····▆");
}

TEST(HistogramLine, ShowsOneValueAmongAMillion) {
  std::vector<double> values(1'000'000, 1);
  values.push_back(3.5);
  EXPECT_EQ(histogram_line(values, {0, 4}, 4), "·█·▁");
}

TEST(HistogramLine, HoldsWhatIsAboveInItsLastCell) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 100};
  EXPECT_EQ(histogram_line(values, {0, 4}, 4), "▃▃▃█");
  EXPECT_EQ(count_above(values, {0, 4}), 1U);
}

TEST(HistogramLine, LeavesOutWhatIsNotFinite) {
  EXPECT_EQ(histogram_line(std::vector{nan, infinite, -infinite, 1.0}, {0, 2}, 2), "·█");
  EXPECT_EQ(count_above(std::vector{nan, infinite, 1.0}, {0, 2}), 0U);
  EXPECT_EQ(histogram_line(std::vector{nan, infinite}, {0, 2}, 2), "");
}

TEST(HistogramLine, ShowsNothingOfNothing) {
  EXPECT_EQ(histogram_line({}, {0, 1}, 8), "");
  EXPECT_EQ(histogram_line(std::vector{1.0}, {0, 1}, 0), "");
}

TEST(HistogramLine, PutsEqualValuesInOneCell) {
  EXPECT_EQ(histogram_line(std::vector{2.0, 2.0}, {2, 2}, 4), "█···");
  EXPECT_EQ(histogram_line(std::vector{2.0, 5.0}, {2, 2}, 4), "█··█");
}

TEST(CommonScale, EndsAtTheLargestOfTheListsOwnQuantiles) {
  const auto scale = common_scale(Lists{up_to(100), {50, 50, 300}});
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->low, 1);
  EXPECT_EQ(scale->high, 300);  // of three values, the largest
  EXPECT_EQ(common_scale(Lists{up_to(100)})->high, 95);
}

TEST(CommonScale, IsNotStretchedByOneExtremeValue) {
  std::vector<double> values = up_to(40);
  values.push_back(1e6);
  EXPECT_LE(common_scale(Lists{values})->high, 40);
}

TEST(CommonScale, KnowsOnlyFiniteValues) {
  EXPECT_FALSE(common_scale(Lists{}));
  EXPECT_FALSE(common_scale(Lists{{}, {nan, infinite}}));
  EXPECT_EQ(common_scale(Lists{{nan, 2}, {-infinite, 3}})->low, 2);
}

}  // namespace
}  // namespace infermeter::histogram_line_test
