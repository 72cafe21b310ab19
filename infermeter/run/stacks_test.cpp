#include "infermeter/run/stacks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace infermeter::run_stacks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// One iteration, from 1 to 2 s after the origin; in it an operator from 1.2 to 1.6 s. Samples before, in the operator,
// in the iteration, and after it.
TrialResult sampled_trial() {
  TrialResult result;
  result.samples.begin_s = {1};
  result.samples.end_s = {2};
  RawStacks raw;
  raw.method = "perf_event";
  raw.detail = "somehow";
  raw.origin_ns = 5'000'000'000;
  raw.process = 7;
  raw.code = {{.begin = 0x1000, .end = 0x9000, .path = {}}};
  raw.jit_map = "1000 10 before\n2000 10 within\n3000 10 after\n";
  const auto at = [&](std::int64_t ms, std::uint32_t thread, std::uint64_t address) {
    raw.samples.push_back({.monotonic_ns = raw.origin_ns + ms * 1'000'000, .thread = thread, .addresses = {address}});
  };
  at(500, 8, 0x1001);
  at(1300, 7, 0x2001);
  at(1800, 9, 0x2002);
  at(2500, 7, 0x3001);
  result.raw_stacks = std::move(raw);
  return result;
}

OperatorProfile one_operator() {
  OperatorProfile profile;
  profile.operators.emplace_back().name = "conv";
  profile.iteration = {0};
  profile.op = {0};
  profile.thread = {0};
  profile.begin_s = {0.2};
  profile.duration_s = {0.4};
  return profile;
}

std::string said(const TrialResult& result, DiagnosticId id) {
  const auto& all = result.samples.diagnostics;
  const auto found = std::ranges::find(all, id, &Diagnostic::id);
  return found == all.end() ? "" : found->message;
}

TEST(StackReader, KeepsWhatLiesInIterationsAndTellsTheOperator) {
  TrialResult result = sampled_trial();
  const OperatorProfile profile = one_operator();
  StackReader()(result, &profile);
  EXPECT_FALSE(result.raw_stacks.has_value());
  ASSERT_THAT(result.stacks, SizeIs(1));
  const TrialStacks& stacks = result.stacks[0];
  EXPECT_EQ(stacks.method, "perf_event");
  EXPECT_EQ(stacks.detail, "somehow; 2 samples, 50.0 % within an operator");
  EXPECT_THAT(stacks.stacks.frames, ElementsAre(StackFrame{.symbol = "within", .module = "[jit]"}))
      << "nothing that only other samples had";
  EXPECT_THAT(stacks.stacks.threads, ElementsAre("main", "thread 1"));
  ASSERT_THAT(stacks.stacks.samples, SizeIs(2));
  EXPECT_DOUBLE_EQ(stacks.stacks.samples[0].t_s, 1.3);
  EXPECT_EQ(stacks.stacks.samples[0].op, 0U);
  EXPECT_EQ(stacks.stacks.samples[1].op, std::nullopt);
  EXPECT_THAT(result.samples.diagnostics, IsEmpty());
}

TEST(StackReader, SaysWhatWasLostAndWhyItIsNoBetter) {
  TrialResult result = sampled_trial();
  result.raw_stacks->lost = 12'345;
  result.raw_stacks->method = "sigprof";
  result.raw_stacks->reason = "perf_event_open was refused (EACCES)";
  StackReader()(result, nullptr);
  EXPECT_EQ(result.stacks.at(0).detail,
            "somehow; 2 samples; 12,345 more were lost, as they came faster than they were read; perf_event_open was "
            "refused (EACCES)");
  EXPECT_THAT(said(result, DiagnosticId::stacks_by_signal), HasSubstr("perf_event_open was refused (EACCES)"));
}

TEST(StackReader, SaysThatTheClocksSlipped) {
  TrialResult result = sampled_trial();
  result.samples.clock.realtime_slip_ns = 90'000;
  const OperatorProfile profile = one_operator();
  StackReader()(result, &profile);
  EXPECT_THAT(said(result, DiagnosticId::stacks_not_joined), HasSubstr("90 us"));
  EXPECT_EQ(result.stacks.at(0).detail, "somehow; 2 samples");
}

TEST(StackReader, LeavesNothingWhereNothingCouldBeSampled) {
  TrialResult refused = sampled_trial();
  refused.samples.diagnostics.push_back({DiagnosticId::no_stack_profile, "no call stacks: a reason", {}});
  refused.raw_stacks->reason = "perf_event_open was refused";
  StackReader()(refused, nullptr);
  EXPECT_THAT(refused.stacks, IsEmpty());
  EXPECT_EQ(said(refused, DiagnosticId::stacks_by_signal), "");
  TrialResult never_timed = sampled_trial();
  never_timed.samples.begin_s.clear();
  never_timed.samples.end_s.clear();
  StackReader()(never_timed, nullptr);
  EXPECT_THAT(never_timed.stacks, IsEmpty());
  TrialResult not_asked;
  StackReader()(not_asked, nullptr);
  EXPECT_THAT(not_asked.stacks, IsEmpty());
}

}  // namespace
}  // namespace infermeter::run_stacks_test
