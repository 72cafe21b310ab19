#include "infermeter/stats/load/time_bins.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace infermeter::time_bins_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Of ticks of a millisecond, each so many times.
HistogramRecord histogram_of(const std::vector<std::uint64_t>& ticks, int times = 1) {
  LogHistogram histogram;
  for (const std::uint64_t each : ticks) {
    for (int i = 0; i < times; ++i) histogram.add(each);
  }
  return {.tick_s = 1e-3, .counts = histogram.counts()};
}

TEST(TimeBins, AreSharesOfEachGroupInCommonBins) {
  const std::vector<std::vector<HistogramRecord>> groups = {
      {histogram_of({100, 100, 100}, 250), histogram_of({200}, 250)}, {histogram_of({150, 200})}};
  const TimeBins bins = time_bins(groups);
  EXPECT_FALSE(bins.is_log);
  ASSERT_EQ(bins.edges_s.size(), 51U);
  EXPECT_DOUBLE_EQ(bins.edges_s.front(), 0.1);
  EXPECT_DOUBLE_EQ(bins.edges_s.back(), 0.2);
  EXPECT_THAT(bins.counts, ElementsAre(1000, 2));
  EXPECT_DOUBLE_EQ(bins.shares[0].front(), 0.75);
  EXPECT_DOUBLE_EQ(bins.shares[0].back(), 0.25);
  EXPECT_DOUBLE_EQ(bins.shares[1].back(), 0.5);
  EXPECT_DOUBLE_EQ(std::reduce(bins.shares[1].begin(), bins.shares[1].end()), 1);
}

TEST(TimeBins, OfTimesFarApartAreEquallyWideOnALogarithmicAxis) {
  const std::vector<std::vector<HistogramRecord>> groups = {{histogram_of({1, 10, 1000}, 300)}};
  const TimeBins bins = time_bins(groups);
  EXPECT_TRUE(bins.is_log);
  EXPECT_NEAR(bins.edges_s[1] / bins.edges_s[0], bins.edges_s[50] / bins.edges_s[49], 1e-9);
  EXPECT_DOUBLE_EQ(bins.edges_s.back(), 1);
}

TEST(TimeBins, AreNoNarrowerThanTheHistogramResolves) {
  std::vector<std::uint64_t> ticks(2000);
  std::iota(ticks.begin(), ticks.end(), 1'000'000);
  const std::vector<std::vector<HistogramRecord>> groups = {{histogram_of(ticks)}};
  EXPECT_EQ(time_bins(groups).edges_s.size(), 2U);
}

TEST(TimeBins, OfFewTimesAreFew) {
  const std::vector<std::vector<HistogramRecord>> groups = {{histogram_of({100, 120, 150, 200}, 4)}};
  EXPECT_EQ(time_bins(groups).edges_s.size(), 9U);
}

TEST(TimeBins, OfOneTimeAreOne) {
  const std::vector<std::vector<HistogramRecord>> groups = {{histogram_of({100, 100})}, {}};
  const TimeBins bins = time_bins(groups);
  EXPECT_EQ(bins.edges_s.size(), 2U);
  EXPECT_LT(bins.edges_s[0], 0.1);
  EXPECT_GT(bins.edges_s[1], 0.1);
  EXPECT_THAT(bins.shares[0], ElementsAre(1));
  EXPECT_THAT(bins.shares[1], IsEmpty());
  const std::vector<std::vector<HistogramRecord>> zeros = {{histogram_of({0})}};
  EXPECT_THAT(time_bins(zeros).shares[0], ElementsAre(1));
}

TEST(TimeBins, OfNothingAreNone) {
  EXPECT_THAT(time_bins({}).edges_s, IsEmpty());
  const std::vector<std::vector<HistogramRecord>> groups(2);
  EXPECT_THAT(time_bins(groups).shares, ElementsAre(IsEmpty(), IsEmpty()));
}

}  // namespace
}  // namespace infermeter::time_bins_test
