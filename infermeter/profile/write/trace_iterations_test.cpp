#include "infermeter/profile/write/trace_iterations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace infermeter::trace_iterations_test {
namespace {

using testing::ElementsAre;

Samples with_times(std::vector<double> begin_s, std::vector<double> end_s) {
  Samples samples;
  samples.begin_s = std::move(begin_s);
  samples.end_s = std::move(end_s);
  return samples;
}

std::vector<std::uint32_t> iterations(const TraceTrack& track) {
  std::vector<std::uint32_t> found;
  for (const TraceSlice& slice : track.slices) found.push_back(slice.iteration);
  return found;
}

TEST(MeasuredProcesses, IterationsStandOnOneTrackFromZeroOn) {
  Samples samples = with_times({5, 6, 7.5}, {6, 7, 8});
  samples.memory_timeline = {{.at_s = 4, .phase = {}, .rss_bytes = 1}, {.at_s = 7, .phase = {}, .rss_bytes = 2}};
  const TraceProcess process = measured_processes({{"a@b\n", &samples}}).at(0);
  EXPECT_EQ(process.subject, "a@b ");
  EXPECT_TRUE(process.is_measured);
  ASSERT_EQ(process.tracks.size(), 1U);
  EXPECT_EQ(process.tracks[0].name, "iterations");
  EXPECT_THAT(iterations(process.tracks[0]), ElementsAre(0, 1, 2));
  EXPECT_DOUBLE_EQ(process.tracks[0].slices[2].begin_s, 2.5);
  EXPECT_DOUBLE_EQ(process.tracks[0].slices[2].end_s, 3);
  ASSERT_EQ(process.counters.size(), 1U);
  EXPECT_THAT(process.counters[0].at_s, ElementsAre(2.0)) << "what was before the first iteration is not there";
}

TEST(MeasuredProcesses, RequestsThatOverlapStandOnTracksOfTheirOwnEvenIfOneLiesWithinAnother) {
  Samples samples = with_times({0, 1, 2, 3, 10}, {9, 2, 5, 4, 11});
  samples.load.emplace();
  const TraceProcess process = measured_processes({{"a", &samples}}).at(0);
  ASSERT_EQ(process.tracks.size(), 3U);
  EXPECT_THAT(iterations(process.tracks[0]), ElementsAre(0, 4));
  EXPECT_THAT(iterations(process.tracks[1]), ElementsAre(1, 2)) << "free when the one before ends";
  EXPECT_THAT(iterations(process.tracks[2]), ElementsAre(3));
  EXPECT_EQ(process.tracks[2].name, "requests 3");
}

TEST(MeasuredProcesses, WhatIsNoTimeIsLeftOutAndWhatIsBeyondTheLimitIsCounted) {
  const Samples odd = with_times({0, std::numeric_limits<double>::quiet_NaN(), -3, 1}, {1, 2, 3, 1e12});
  const TraceProcess process = measured_processes({{"a", &odd}}).at(0);
  EXPECT_EQ(process.left_out, 3U);
  Samples many;
  for (std::size_t i = 0; i < kMostTracedIterations; ++i) {
    many.begin_s.push_back(static_cast<double>(i));
    many.end_s.push_back(static_cast<double>(i) + 0.5);
  }
  const auto both = measured_processes({{"a", &many}, {"b", &many}});
  EXPECT_EQ(both[0].tracks[0].slices.size(), kMostTracedIterations / 2);
  EXPECT_EQ(both[1].not_shown, kMostTracedIterations / 2);
}

}  // namespace
}  // namespace infermeter::trace_iterations_test
