#include "infermeter/report/run/trial_iterations.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "infermeter/report/test_records.hpp"

namespace infermeter::trial_iterations_test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Thinned, KeepsFirstLastAndTheExtremesOfEachStretch) {
  EXPECT_THAT(thinned(std::vector<double>{5, 1, 2, 9, 3, 7, 0, 4, 4, 6}, 6), ElementsAre(0, 1, 3, 5, 6, 9));
  EXPECT_THAT(thinned(std::vector<double>{5, 9, 1, 5, 5, 5, 5, 5}, 4), ElementsAre(0, 1, 2, 7));
}

TEST(Thinned, KeepsAllOfFew) {
  EXPECT_THAT(thinned(std::vector<double>{}, 10), SizeIs(0));
  EXPECT_THAT(thinned(std::vector<double>{3}, 10), ElementsAre(0));
  EXPECT_THAT(thinned(std::vector<double>{3, 1, 2, 1}, 0), ElementsAre(0, 1, 2, 3));
}

TEST(Thinned, PassesOverWhatIsNoNumber) {
  EXPECT_THAT(thinned(std::vector<double>{1, kNaN, 3, 2, kNaN, 1}, 4), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(thinned(std::vector<double>{1, kNaN, kNaN, kNaN, kNaN, 1}, 4), ElementsAre(0, 1, 5));
}

RC_GTEST_PROP(Thinned, GivesSomeOfTheValuesInOrderWithTheExtremes, (const std::vector<double>& values)) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 50);
  const auto kept = thinned(values, count);
  RC_ASSERT(kept.size() <= std::max<std::size_t>(count, 4));
  RC_ASSERT(std::ranges::adjacent_find(kept, std::greater_equal<>()) == kept.end());
  RC_PRE(!values.empty());
  RC_ASSERT(kept.front() == 0 && kept.back() == values.size() - 1);
  const auto at_kept = [&](auto order) {
    return values[*std::ranges::max_element(kept, order, [&](std::size_t i) { return values[i]; })];
  };
  RC_ASSERT(at_kept(std::less<>()) == *std::ranges::max_element(values));
  RC_ASSERT(at_kept(std::greater<>()) == *std::ranges::min_element(values));
}

Samples long_trial(std::size_t count) {
  Samples trial = test::trial_of(0, 0, 0, 0.01);
  trial.begin_s.clear();
  trial.end_s.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const double begin = 0.02 * static_cast<double>(i) + 1e-7 / 3;
    trial.begin_s.push_back(begin);
    trial.end_s.push_back(begin + 0.01 + 1e-5 * std::sin(static_cast<double>(i)));
  }
  return trial;
}

TEST(DrawnIterations, AreRoundedToWhatAPictureShows) {
  Samples trial = test::trial_of(0, 0, 0, 0.01);
  trial.begin_s = {0, 0.1234564999, 2.0000005001};
  trial.end_s = {0.000034567891, 0.1234564999 + 0.0000345671, 2.0000005001 + kNaN};
  TrialIterations drawn = drawn_iterations(trial, 1);
  EXPECT_EQ(drawn.timed.begin_s, (std::vector<double>{0, 0.123456, 2.000001}));
  EXPECT_EQ(drawn.timed.latency_s[0], 0.000034568);
  EXPECT_EQ(drawn.timed.latency_s[1], 0.000034567);
  EXPECT_TRUE(std::isnan(drawn.timed.latency_s[2]));
  EXPECT_EQ(drawn.warmup.begin_s, (std::vector<double>{0.25}));
  trial.end_s = {0.123456789, 0.1234564999 + 0.0123456789, 2.0000005001 + 12.3456789};
  drawn = drawn_iterations(trial, 1);
  EXPECT_EQ(drawn.timed.begin_s, (std::vector<double>{0, 0.123, 2}));
  EXPECT_EQ(drawn.timed.latency_s, (std::vector<double>{0.123457, 0.0123457, 12.3457}));
}

TEST(DrawnIterations, AreThinnedByTheShareGiven) {
  Samples trial = long_trial(10'000);
  trial.end_s[5'000] += 1;
  trial.warmup_begin_s = trial.begin_s;
  trial.warmup_end_s = trial.end_s;
  const TrialIterations drawn = drawn_iterations(trial, 0.1);
  EXPECT_THAT(drawn.timed.latency_s, SizeIs(1'000));
  EXPECT_THAT(drawn.warmup.begin_s, SizeIs(1'000));
  EXPECT_NEAR(*std::ranges::max_element(drawn.timed.latency_s), 1.01, 1e-3);
  EXPECT_TRUE(std::ranges::is_sorted(drawn.timed.begin_s));
}

TEST(DrawnIterations, KeepMemoryBesideItsIterations) {
  Samples trial = long_trial(10'000);
  for (std::size_t i = 0; i < 10'000; ++i) trial.memory_bytes.push_back(static_cast<double>(i));
  trial.memory_bytes[7'000] = 1e9;
  const TrialIterations drawn = drawn_iterations(trial, 0.1);
  ASSERT_EQ(drawn.memory_bytes.size(), drawn.timed.begin_s.size());
  EXPECT_LE(drawn.memory_bytes.size(), 1'000);
  const auto peak = std::ranges::find(drawn.memory_bytes, 1e9) - drawn.memory_bytes.begin();
  EXPECT_NEAR(drawn.timed.begin_s.at(static_cast<std::size_t>(peak)), 140, 1e-5);
}

TEST(DrawnMemory, KeepsEveryPhaseAndItsExtremesInFewPoints) {
  std::vector<MemoryPoint> points = {{0.0204, Phase::start, 10}, {0.04, Phase::load, 90}, {0.06, Phase::compile, 70}};
  for (int i = 0; i < 900; ++i)
    points.push_back({0.1 + 0.05 * i, Phase::timed, 200U + static_cast<std::uint64_t>(i % 3)});
  points[500].rss_bytes = 9'999;
  points[700].rss_bytes = 1;
  const auto drawn = drawn_memory(points);
  EXPECT_LE(drawn.size(), kDrawnMemoryPoints);
  EXPECT_GE(drawn.size(), 20U);
  EXPECT_EQ(drawn[0].at_s, 0.02);
  EXPECT_EQ(drawn[1].rss_bytes, 90U);
  EXPECT_EQ(drawn[2].phase, Phase::compile);
  EXPECT_EQ(std::ranges::max(drawn, {}, &MemoryPoint::rss_bytes).rss_bytes, 9'999U);
  EXPECT_EQ(std::ranges::min(drawn, {}, &MemoryPoint::rss_bytes).rss_bytes, 1U);
  EXPECT_EQ(drawn.back().rss_bytes, points.back().rss_bytes);
  points.resize(kDrawnMemoryPoints);
  EXPECT_THAT(drawn_memory(points), SizeIs(kDrawnMemoryPoints)) << "few are all drawn";
}

TEST(AllIterations, AreExact) {
  const Samples trial = long_trial(100);
  const TrialIterations all = all_iterations(trial);
  EXPECT_EQ(all.timed.begin_s, trial.begin_s);
  EXPECT_EQ(all.timed.latency_s[7], trial.end_s[7] - trial.begin_s[7]);
  EXPECT_TRUE(all.memory_bytes.empty());
  EXPECT_EQ(all.memory_timeline.size(), trial.memory_timeline.size());
}

}  // namespace
}  // namespace infermeter::trial_iterations_test
