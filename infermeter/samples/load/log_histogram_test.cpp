#include "infermeter/samples/load/log_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace infermeter::log_histogram_test {
namespace {

double relative_error(std::uint64_t ticks) {
  const double middle = LogHistogram::middle_of(LogHistogram::bucket_of(ticks));
  return ticks == 0 ? middle : std::abs(middle / static_cast<double>(ticks) - 1);
}

// Each power of two, and what is just below and above each.
TEST(LogHistogram, EveryEdgeIsWithinTheErrorPromised) {
  std::uint32_t last = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t ticks : {power - 1, power, power + 1, power + power / 2, power + power / 1024}) {
      EXPECT_LE(relative_error(ticks), 1.0 / 2048) << ticks;
    }
    EXPECT_GE(LogHistogram::bucket_of(power), last);
    last = LogHistogram::bucket_of(power);
  }
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_LE(relative_error(most), 1.0 / 2048);
  EXPECT_EQ(LogHistogram::bucket_of(most), LogHistogram::kBuckets - 1);
}

RC_GTEST_PROP(LogHistogramProperty, ABucketBeginsWithItsLeastValue, ()) {
  const std::uint64_t value = (*rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64)) | 1;
  const std::uint32_t bucket = LogHistogram::bucket_of<3>(value);
  const std::uint64_t first = LogHistogram::first_of<3>(bucket);
  RC_ASSERT(first <= value && LogHistogram::bucket_of<3>(first) == bucket);
  RC_ASSERT(LogHistogram::bucket_of<3>(first - 1) == bucket - 1);
  const bool is_near = value < 16 ? first == value : value - first < first / 8;
  RC_ASSERT(is_near);
}

TEST(LogHistogram, SmallValuesAreExact) {
  for (std::uint64_t ticks = 0; ticks < 2048; ++ticks) EXPECT_EQ(relative_error(ticks), 0) << ticks;
}

RC_GTEST_PROP(LogHistogramProperty, AnyValueIsWithinTheErrorPromised, ()) {
  const std::uint64_t ticks = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64);
  RC_ASSERT(relative_error(ticks) <= 1.0 / 2048);
}

RC_GTEST_PROP(LogHistogramProperty, LargerValuesAreInNoEarlierBucket, ()) {
  const std::uint64_t one = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64);
  const std::uint64_t other = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64);
  RC_ASSERT((one <= other) <= (LogHistogram::bucket_of(one) <= LogHistogram::bucket_of(other)));
}

TEST(LogHistogram, MergingIsExact) {
  std::mt19937_64 random(1);
  LogHistogram one, other, both;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t ticks = random() >> (random() % 64);
    (i % 3 == 0 ? one : other).add(ticks);
    both.add(ticks);
  }
  one.merge(other);
  EXPECT_EQ(one.count(), 20'000U);
  EXPECT_EQ(one.count(), both.count());
  EXPECT_EQ(one.counts(), both.counts());
  EXPECT_TRUE(std::ranges::is_sorted(one.counts()));
}

TEST(LogHistogram, OfNothingNothingIsTold) {
  const HistogramRecord empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_EQ(empty.quantile_s(0.5), std::nullopt);
  EXPECT_EQ(empty.mean_s(), std::nullopt);
  EXPECT_EQ(empty.max_s(), std::nullopt);
}

TEST(LogHistogram, QuantilesAreThoseOfTheInverseOfTheDistributionFunction) {
  HistogramRecord record{0.5, {}};
  for (std::uint32_t ticks = 1; ticks <= 100; ++ticks) record.counts.emplace_back(ticks, 1);
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(record.quantile_s(percent / 100.0), percent * 0.5) << percent;
  }
  EXPECT_EQ(record.quantile_s(0), 0.5);
  EXPECT_EQ(record.quantile_s(0.501), 25.5);
  EXPECT_EQ(record.mean_s(), 25.25);
  EXPECT_EQ(record.max_s(), 50);
  EXPECT_EQ(record.quantile_s(1.5), std::nullopt);
  EXPECT_EQ(record.quantile_s(std::nan("")), std::nullopt);
}

TEST(LogHistogram, QuantilesOfManyValuesAreWithinTheErrorPromised) {
  std::mt19937_64 random(2);
  std::exponential_distribution<double> gap(1e-6);
  LogHistogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 50'000; ++i) {
    values.push_back(static_cast<std::uint64_t>(gap(random)));
    histogram.add(values.back());
  }
  std::ranges::sort(values);
  const HistogramRecord record{1, histogram.counts()};
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.99998}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * 50'000 - 1e-6));
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(*record.quantile_s(share), exact, exact / 2048) << share;
  }
}

}  // namespace
}  // namespace infermeter::log_histogram_test
