#include "infermeter/profile/write/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "infermeter/profile/write/test_traces.hpp"
#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter::trace_file_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pair;

TraceProcess traced(const Samples& samples, const OperatorProfile& profile) {
  const std::vector<TraceSource> sources = {{.subject = "a@b", .trial = {&samples, &profile}, .stacks = nullptr}};
  return trace_of(sources).processes.at(0);
}

std::vector<std::string> names(const TraceProcess& process, std::size_t track) {
  std::vector<std::string> result;
  for (const TraceSlice& slice : process.tracks.at(track).slices) result.push_back(process.labels[slice.label].name);
  return result;
}

double duration(const TraceSlice& slice) { return slice.end_s - slice.begin_s; }

void expect_nesting(const TraceTrack& track) {
  std::vector<TraceSlice> open;
  double latest_s = 0;
  for (const TraceEdge& edge : edges_of(track)) {
    const TraceSlice& slice = track.slices[edge.slice];
    ASSERT_LE(slice.begin_s, slice.end_s);
    ASSERT_GE(edge.begins ? slice.begin_s : slice.end_s, latest_s);
    latest_s = edge.begins ? slice.begin_s : slice.end_s;
    if (edge.begins && !open.empty()) {
      ASSERT_LE(open.back().begin_s, slice.begin_s);
      ASSERT_GE(open.back().end_s, slice.end_s);
    }
    if (edge.begins) open.push_back(slice);
    if (!edge.begins) open.pop_back();
  }
  ASSERT_TRUE(open.empty());
}

TEST(TraceOf, PutsOperatorsIntoTheirIterationFromZeroOn) {
  const TraceProcess process = traced(test::trace_samples(2, 0.01), test::trace_profile());
  ASSERT_EQ(process.tracks.size(), 2U);
  EXPECT_EQ(process.tracks[0].name, "main thread");
  EXPECT_EQ(process.tracks[1].name, "thread 7");
  EXPECT_THAT(names(process, 0),
              ElementsAre("iteration", "conv1", "reorder", "fc", "iteration", "conv1", "reorder", "fc"));
  const auto& slices = process.tracks[0].slices;
  EXPECT_THAT(slices[0].begin_s, DoubleNear(0, 1e-12));
  EXPECT_THAT(slices[5].begin_s, DoubleNear(0.011 + 0.0005, 1e-12)) << "of the second iteration";
  EXPECT_THAT(slices[5].end_s, DoubleNear(0.011 + 0.0045, 1e-12));
  EXPECT_THAT(process.tracks[1].slices[1].begin_s, DoubleNear(0.011 + 0.001, 1e-12));
  EXPECT_EQ(process.left_out, 0U);
}

TEST(TraceOf, SelfTimesLeaveOutWhatLiesWithin) {
  const TraceProcess process = traced(test::trace_samples(2, 0.01), test::trace_profile());
  const std::vector<double> self = self_times_s(process.tracks[0]);
  EXPECT_THAT(self[0], DoubleNear(0.001, 1e-9)) << "the reorder is not taken off twice";
  EXPECT_THAT(self[1], DoubleNear(0.003, 1e-9));
  EXPECT_THAT(self[2], DoubleNear(0.001, 1e-9));
  EXPECT_THAT(std::accumulate(self.begin(), self.end(), 0.0), DoubleNear(0.02, 1e-9));
}

TEST(TraceOf, TellsWhatIsKnownOfAnOperator) {
  const TraceProcess process = traced(test::trace_samples(2, 0.01), test::trace_profile());
  const TraceLabel& conv = process.labels.at(1);
  EXPECT_EQ(conv.category, "Conv");
  EXPECT_EQ(conv.op, 0U);
  EXPECT_THAT(conv.texts,
              ElementsAre(Pair("kernel", "jit_avx512_f32"), Pair("precision", "float32"), Pair("layout", "NCHWc"),
                          Pair("shapes", testing::_), Pair("nodes", "conv1, relu1"), Pair("nodes_by", "suffix")));
  EXPECT_THAT(conv.numbers, ElementsAre(Pair("flops", 236e6), Pair("parameter_bytes", 37'632),
                                        Pair("output_bytes", 3'211'264), Pair("arena_peak_bytes", 5'000'000)));
}

TEST(TraceOf, CountsMemoryOverTime) {
  Samples samples = test::trace_samples(2, 0.01);
  samples.memory_bytes = {1e6, std::numeric_limits<double>::quiet_NaN()};
  const TraceProcess process = traced(samples, test::trace_profile());
  ASSERT_EQ(process.counters.size(), 2U);
  EXPECT_EQ(process.counters[0].name, "resident memory");
  EXPECT_THAT(process.counters[0].at_s, ElementsAre(DoubleNear(0.01, 1e-12)));
  EXPECT_THAT(process.counters[1].values, ElementsAre(5e6, 6e6, 5e6, 6e6));
}

TEST(TraceOf, CountsWhatTheLauncherSawAndTheArenaInUse) {
  Samples samples = test::trace_samples(2, 0.01);
  const double begin_s = samples.begin_s[0];
  samples.memory_timeline = {{begin_s - 0.1, Phase::load, 1'000'000},
                             {begin_s + 0.005, Phase::timed, 2'000'000},
                             {begin_s + 9, Phase::outputs, 3'000'000}};
  OperatorProfile profile = test::trace_profile();
  profile.operators[0].arena_in_use_bytes = 4'000'000;
  const TraceProcess process = traced(samples, profile);
  ASSERT_EQ(process.counters.size(), 3U);
  EXPECT_EQ(process.counters[0].name, "resident memory");
  EXPECT_THAT(process.counters[0].at_s, ElementsAre(DoubleNear(0.005, 1e-12))) << "while its iterations ran";
  EXPECT_THAT(process.counters[0].values, ElementsAre(2e6));
  EXPECT_EQ(process.counters[1].name, "arena, in use");
  EXPECT_THAT(process.counters[1].values, ElementsAre(4e6));
}

TEST(TraceOf, WhatOverlapsComesToATrackOfItsOwn) {
  OperatorProfile profile;
  profile.operators = {test::trace_operator("a", "A"), test::trace_operator("b", "B"), test::trace_operator("c", "C")};
  test::add_trace_event(profile, 0, 0, 0, 0.001, 0.004);
  test::add_trace_event(profile, 0, 1, 0, 0.003, 0.004);  // begins in a, ends after it
  test::add_trace_event(profile, 0, 2, 0, 0.008, 0.004);  // ends after the iteration
  const TraceProcess process = traced(test::trace_samples(1, 0.01), profile);
  ASSERT_EQ(process.tracks.size(), 2U);
  EXPECT_THAT(names(process, 0), ElementsAre("iteration", "a"));
  EXPECT_THAT(names(process, 1), ElementsAre("b", "c"));
  EXPECT_EQ(process.tracks[1].name, "main thread, overlapping");
  EXPECT_THAT(duration(process.tracks[1].slices[0]), DoubleNear(0.004, 1e-12)) << "as long as it was";
}

TEST(TraceOf, AStepOfTheRuntimesClockIsNoOverlap) {
  OperatorProfile profile;
  profile.operators = {test::trace_operator("a", "A"), test::trace_operator("b", "B")};
  test::add_trace_event(profile, 0, 0, 0, 0.001, 0.002);
  test::add_trace_event(profile, 0, 1, 0, 0.003 - 0.9e-6, 0.002);
  test::add_trace_event(profile, 0, 1, 0, 0.006, 0.004 + 0.9e-6);
  const TraceProcess process = traced(test::trace_samples(1, 0.01), profile);
  ASSERT_EQ(process.tracks.size(), 1U);
  EXPECT_EQ(process.tracks[0].slices[2].begin_s, process.tracks[0].slices[1].end_s);
  EXPECT_EQ(process.tracks[0].slices[3].end_s, process.tracks[0].slices[0].end_s);
  expect_nesting(process.tracks[0]);
}

TEST(TraceOf, AnOperatorBeforeItsIterationMovesTheOrigin) {
  OperatorProfile profile;
  profile.operators = {test::trace_operator("early", "A")};
  test::add_trace_event(profile, 0, 0, 0, -0.002, 0.001);
  const TraceProcess process = traced(test::trace_samples(1, 0.01), profile);
  EXPECT_THAT(process.tracks[0].slices[0].begin_s, DoubleNear(0.002, 1e-12));
  EXPECT_THAT(process.tracks[1].slices[0].begin_s, DoubleNear(0, 1e-12));
}

TEST(TraceOf, MeansAreOneIterationThatSaysSo) {
  OperatorProfile profile;
  profile.operators = {test::trace_operator("a", "A"), test::trace_operator("b", "B")};
  profile.mean_s = {0.003, 0.005};
  profile.mean_calls = {1, 2.5};
  const TraceProcess process = traced(test::trace_samples(4, 0.01), profile);
  EXPECT_TRUE(process.from_means);
  EXPECT_THAT(names(process, 0), ElementsAre("mean iteration, laid out from sums", "a", "b"));
  EXPECT_THAT(duration(process.tracks[0].slices[0]), DoubleNear(0.01, 1e-9));
  EXPECT_THAT(process.tracks[0].slices[2].begin_s, DoubleNear(0.003, 1e-12));
  EXPECT_THAT(process.labels[2].numbers, ElementsAre(Pair("calls_per_inference", 2.5)));
  profile.mean_s = {0.008, 0.008};
  EXPECT_THAT(duration(traced(test::trace_samples(4, 0.01), profile).tracks[0].slices[0]), DoubleNear(0.016, 1e-9))
      << "the sum, where it is more than the wall time";
}

TEST(TraceOf, WhatHasNoPlaceIsCounted) {
  OperatorProfile profile;
  profile.operators = {test::trace_operator("a", "A")};
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  test::add_trace_event(profile, 0, 0, 0, 0.001, 0.001);
  test::add_trace_event(profile, 5, 0, 0, 0.001, 0.001);
  test::add_trace_event(profile, 0, 3, 0, 0.001, 0.001);
  test::add_trace_event(profile, 0, 0, 0, nan, 0.001);
  test::add_trace_event(profile, 0, 0, 0, 0.001, infinite);
  test::add_trace_event(profile, 0, 0, 0, 1e300, 1);
  EXPECT_EQ(traced(test::trace_samples(1, 0.01), profile).left_out, 5U);
}

TEST(TraceOf, ManyThreadsAndOverlapsAreBounded) {
  OperatorProfile profile;
  profile.operators = {test::trace_operator("a", "A")};
  for (std::uint32_t i = 0; i < 2000; ++i) test::add_trace_event(profile, 0, 0, i + 1, 0.001, 0.001);
  for (std::uint32_t i = 0; i < 100; ++i) test::add_trace_event(profile, 0, 0, 1, 0.001 + 1e-5 * i, 0.005);
  const TraceProcess process = traced(test::trace_samples(1, 0.01), profile);
  EXPECT_EQ(process.tracks.size(), 255U + 16U);
  EXPECT_EQ(process.left_out, 2000U - 255U + 100U - 16U) << "the first two of thread 1 nest";
}

TEST(TraceText, IsShortAndPlain) {
  for (const std::string& hostile : test::hostile_texts()) {
    const std::string text = trace_text(hostile);
    EXPECT_LE(text.size(), kLongestTraceText);
    EXPECT_EQ(valid_utf8(text), text);
    EXPECT_EQ(text.find_first_of(std::string("\0\n\r\x1b\x07\x7f", 6)), std::string::npos) << text;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  }
  EXPECT_EQ(trace_text("模型 🚀"), "模型 🚀");
  EXPECT_EQ(trace_text(std::string(1000, 'x')), std::string(1000, 'x'));
  EXPECT_EQ(trace_text(std::string(1001, 'x')), std::string(997, 'x') + "…");
}

// Any events at all: whole microseconds often meet, nest and overlap.
OperatorProfile any_profile() {
  OperatorProfile profile;
  profile.operators = {test::trace_operator("a", "A"), test::trace_operator("b", "B"), test::trace_operator("c", "C")};
  const auto count = *rc::gen::inRange<std::size_t>(0, 60);
  for (std::size_t i = 0; i < count; ++i) {
    test::add_trace_event(profile, *rc::gen::inRange<std::uint32_t>(0, 3), *rc::gen::inRange<std::uint32_t>(0, 3),
                          *rc::gen::inRange<std::uint32_t>(0, 2), 0.5e-6 * *rc::gen::inRange(-3, 60),
                          0.5e-6 * *rc::gen::inRange(-1, 40));
  }
  return profile;
}

RC_GTEST_PROP(TraceOf, AnyTracksNestAndLoseNothing, ()) {
  const OperatorProfile profile = any_profile();
  const TraceProcess process = traced(test::trace_samples(3, 40e-6), profile);
  std::size_t slices = 0;
  double placed_s = 0, given_s = 0;
  for (const TraceTrack& track : process.tracks) {
    expect_nesting(track);
    slices += track.slices.size();
    for (const TraceSlice& slice : track.slices) placed_s += slice.label == 0 ? 0 : duration(slice);
    const std::vector<double> self = self_times_s(track);
    double outermost_s = 0;
    for (const TraceEdge& edge : edges_of(track)) {
      if (edge.begins && edge.parent >= track.slices.size()) outermost_s += duration(track.slices[edge.slice]);
    }
    RC_ASSERT(std::abs(std::accumulate(self.begin(), self.end(), 0.0) - outermost_s) < 1e-12);
    RC_ASSERT(std::ranges::all_of(self, [](double own_s) { return own_s > -1e-12; }));
  }
  for (const double duration_s : profile.duration_s) given_s += std::max(0.0, duration_s);
  RC_ASSERT(slices + process.left_out == profile.op.size() + 3);
  if (process.left_out == 0) {
    RC_ASSERT(std::abs(placed_s - given_s) <= 2 * kTraceStep * static_cast<double>(profile.op.size()) + 1e-12);
  }
}

}  // namespace
}  // namespace infermeter::trace_file_test
