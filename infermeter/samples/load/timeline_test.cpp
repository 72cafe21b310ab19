#include "infermeter/samples/load/timeline.hpp"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace infermeter::timeline_test {
namespace {

bool same(const Timeline& one, const Timeline& other) {
  if (one.width() != other.width() || one.bins().size() != other.bins().size()) return false;
  for (std::size_t i = 0; i < one.bins().size(); ++i) {
    const TimelineBin &a = one.bins()[i], &b = other.bins()[i];
    const bool equal = a.arrived == b.arrived && a.completed == b.completed && a.failed == b.failed &&
                       a.slowest_ticks == b.slowest_ticks;
    if (!equal) return false;
  }
  return true;
}

TEST(Timeline, IsHalvedWhenItIsFull) {
  Timeline timeline(10);
  for (std::uint64_t at = 0; at < 2570; at += 10) timeline.arrived(at);
  EXPECT_EQ(timeline.width(), 20U);
  ASSERT_EQ(timeline.bins().size(), 129U);
  EXPECT_EQ(timeline.bins()[0].arrived, 2U);
  EXPECT_EQ(timeline.bins()[128].arrived, 1U);
  timeline.completed(100'000, 7);
  EXPECT_EQ(timeline.width(), 640U);
  EXPECT_EQ(timeline.bins()[156].slowest_ticks, 7U);
}

TEST(Timeline, AFarMomentTakesNoMoreRoom) {
  Timeline timeline(1);
  timeline.failed(std::uint64_t{1} << 60);
  EXPECT_LE(timeline.bins().size(), kTimelineBins);
  EXPECT_EQ(timeline.bins().back().failed, 1U);
}

// Whichever of the two has been halved more often, and however the events are divided between them.
RC_GTEST_PROP(TimelineProperty, MergingIsExact, (std::vector<std::uint32_t> moments)) {
  Timeline one(5), other(5), both(5);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const std::uint64_t at = moments[i] >> *rc::gen::inRange(0, 24);
    const int kind = *rc::gen::inRange(0, 3);
    for (Timeline* to : {*rc::gen::arbitrary<bool>() ? &one : &other, &both}) {
      if (kind == 0) to->arrived(at);
      if (kind == 1) to->completed(at, moments[i]);
      if (kind == 2) to->failed(at);
    }
  }
  Timeline reversed = other;
  reversed.merge(one);
  one.merge(other);
  RC_ASSERT(same(one, both));
  RC_ASSERT(same(reversed, both));
}

}  // namespace
}  // namespace infermeter::timeline_test
