#include "infermeter/profile/read/profile_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace infermeter::profile_events_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<PlacedEvent> events(std::uint32_t iterations, std::uint32_t per_iteration) {
  std::vector<PlacedEvent> list;
  for (std::uint32_t i = 0; i < iterations; ++i)
    for (std::uint32_t k = 0; k < per_iteration; ++k) list.push_back({i, 0, 0, k, 1});
  return list;
}

TEST(ProfileEvents, KeepsAsManyWholeIterationsAsThereIsRoomFor) {
  OperatorProfile profile;
  profile.operators.resize(1);
  ASSERT_TRUE(put_events(events(3, 90'000), profile).ok());
  EXPECT_EQ(profile.iteration.size(), 180'000U);
  EXPECT_EQ(profile.iteration.back(), 1U);
  EXPECT_TRUE(profile.cut);
}

TEST(ProfileEvents, KeepsExactlyWhatFits) {
  OperatorProfile profile;
  profile.operators.resize(1);
  ASSERT_TRUE(put_events(events(2, kMostProfileEvents / 2), profile).ok());
  EXPECT_EQ(profile.iteration.size(), kMostProfileEvents);
  EXPECT_FALSE(profile.cut);
}

TEST(ProfileEvents, RefusesAnInferenceThatDoesNotFit) {
  OperatorProfile profile;
  profile.operators.resize(1);
  const auto done = put_events(events(1, kMostProfileEvents + 1), profile);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("200000"));
}

TEST(ProfileEvents, OrdersByIterationAndTimeTheLongerFirst) {
  OperatorProfile profile;
  profile.operators.resize(3);
  ASSERT_TRUE(put_events({{1, 0, 0, 0, 5}, {0, 1, 0, 7, 1}, {0, 2, 0, 0, 2}, {0, 0, 0, 0, 9}}, profile).ok());
  EXPECT_THAT(profile.iteration, ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(profile.op, ElementsAre(0, 2, 1, 0));
}

TEST(ProfileEvents, DropsOperatorsWithoutEvents) {
  OperatorProfile profile;
  for (const char* name : {"first", "never", "last"}) profile.operators.emplace_back().name = name;
  ASSERT_TRUE(put_events({{0, 2, 0, 0, 1}, {0, 0, 0, 1, 1}}, profile).ok());
  order_by_first_event(profile);
  ASSERT_EQ(profile.operators.size(), 2U);
  EXPECT_EQ(profile.operators[0].name, "last");
  EXPECT_EQ(profile.operators[1].name, "first");
  EXPECT_THAT(profile.op, ElementsAre(0, 1));
}

TEST(ProfileEvents, PutsARunThatTheClockDoesNotFindIntoTheMiddle) {
  Samples trial;
  trial.begin_s = {0, 1};
  trial.end_s = {0.001, 1.001};
  trial.clock.origin_monotonic_ns = 5'000'000'000;
  const ClockedIterations iterations(trial, 7);
  ASSERT_TRUE(iterations.joined());
  EXPECT_EQ(iterations.begin_of(1, {6'000'000'107, 200'000}), 6'000'000'007);
  // 50 µs outside are those of the clocks, more are not.
  EXPECT_EQ(iterations.begin_of(1, {5'999'950'007, 200'000}), 6'000'000'007);
  EXPECT_EQ(iterations.begin_of(1, {5'999'950'006, 200'000}), 5'999'950'006 - 400'000);
  EXPECT_EQ(iterations.begin_of(1, {6'000'000'007, 1'050'001}), 6'000'000'007 + 25'000);
}

}  // namespace
}  // namespace infermeter::profile_events_test
