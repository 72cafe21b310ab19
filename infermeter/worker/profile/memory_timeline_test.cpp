#include "infermeter/worker/profile/memory_timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace infermeter::memory_timeline_test {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

std::vector<std::uint64_t> bytes_of(const MemoryTimeline& timeline) {
  std::vector<std::uint64_t> bytes;
  for (const MemoryPoint& point : timeline.points()) bytes.push_back(point.rss_bytes);
  return bytes;
}

TEST(MemoryTimeline, KeepsEveryReadingOfAShortTrial) {
  MemoryTimeline timeline;
  timeline.add({0.02, Phase::start, 10});
  timeline.add({0.04, Phase::load, 30});
  timeline.add({0.06, Phase::load, 20});
  timeline.add({0.11, Phase::timed, 50});
  EXPECT_THAT(bytes_of(timeline), ElementsAre(10, 30, 20, 50));
  EXPECT_THAT(timeline.points()[2], Field(&MemoryPoint::at_s, 0.06));
}

TEST(MemoryTimeline, KeepsTheHighestOfReadingsThatFollowAtOnce) {
  MemoryTimeline timeline;
  for (const std::uint64_t bytes : {5, 9, 7})
    timeline.add({0.021 + 1e-4 * static_cast<double>(bytes), Phase::load, bytes});
  EXPECT_THAT(bytes_of(timeline), ElementsAre(9));
}

TEST(MemoryTimeline, KeepsTheEndsOfWhatDoesNotChange) {
  MemoryTimeline timeline;
  for (int i = 1; i <= 100; ++i) timeline.add({0.05 * i, Phase::timed, 70});
  timeline.add({6, Phase::timed, 80});
  ASSERT_THAT(bytes_of(timeline), ElementsAre(70, 70, 80));
  EXPECT_DOUBLE_EQ(timeline.points()[1].at_s, 5);
}

TEST(MemoryTimeline, ALongTrialKeepsItsShapeInFewPoints) {
  MemoryTimeline timeline(100);
  timeline.add({0.02, Phase::load, 40});
  timeline.add({0.04, Phase::compile, 90});
  for (int i = 0; i < 72'000; ++i) {  // an hour; grows, with one peak
    const std::uint64_t bytes = i == 31'234 ? 5'000'000 : 1000 + static_cast<std::uint64_t>(i);
    timeline.add({0.1 + 0.05 * i, Phase::timed, bytes});
  }
  const std::vector<MemoryPoint> points = timeline.points();
  EXPECT_LE(points.size(), 100U);
  EXPECT_GT(points.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(points, std::less{}, &MemoryPoint::at_s));
  EXPECT_THAT(points[0], Field(&MemoryPoint::rss_bytes, 40U));
  EXPECT_THAT(points[1], Field(&MemoryPoint::phase, Phase::compile));
  const auto peak = std::ranges::max_element(points, {}, &MemoryPoint::rss_bytes);
  EXPECT_EQ(peak->rss_bytes, 5'000'000U);
  EXPECT_NEAR(peak->at_s, 0.1 + 0.05 * 31'234, 1e-9) << "where it was";
  EXPECT_EQ(points.back().rss_bytes, 72'999U) << "what it had at the end";
  for (std::size_t i = 3; i < points.size(); ++i) EXPECT_LT(points[i].at_s - points[i - 1].at_s, 3600 / 20);
}

TEST(MemoryTimeline, BelievesNoReadingOfNothingAndNoPhaseThatGoesBack) {
  MemoryTimeline timeline;
  timeline.add({0.02, Phase::timed, 10});
  timeline.add({0.07, Phase::load, 11});
  timeline.add({0.12, Phase::done, 0});
  ASSERT_THAT(bytes_of(timeline), ElementsAre(10, 11));
  EXPECT_EQ(timeline.points()[1].phase, Phase::timed);
  EXPECT_THAT(MemoryTimeline().points(), IsEmpty());
}

TEST(MemoryTimeline, IsBoundedWhateverPhasesAndTimesAre) {
  MemoryTimeline timeline(4);
  for (int i = 0; i < 10'000; ++i)
    timeline.add({1e-3 * i * i, static_cast<Phase>(i % 9), static_cast<std::uint64_t>(1 + i % 7)});
  EXPECT_LE(timeline.points().size(), 18U);
}

}  // namespace
}  // namespace infermeter::memory_timeline_test
