#include "infermeter/profile/stacks/join_stacks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "infermeter/profile/test_profiles.hpp"

namespace infermeter::join_stacks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using Op = std::optional<std::uint32_t>;
constexpr Op none = std::nullopt;

// Two iterations: 10 to 11 s, and 12 to 13 s.
Samples two_iterations() {
  Samples trial;
  trial.begin_s = {10, 12};
  trial.end_s = {11, 13};
  trial.clock.realtime_slip_ns = 50'000;
  return trial;
}

StackProfile samples_at(const std::vector<double>& times) {
  StackProfile stacks;
  stacks.threads = {"main", "thread 1"};
  for (const double t_s : times) stacks.samples.push_back({.t_s = t_s, .thread = 0, .frames = {}, .weight = 1});
  return stacks;
}

std::vector<Op> operators_of(const StackProfile& stacks) {
  std::vector<Op> found;
  for (const StackSample& sample : stacks.samples) found.push_back(sample.op);
  return found;
}

TEST(JoinStacks, KeepsWhatLiesInAnIteration) {
  StackProfile stacks = samples_at({9.9, 10, 10.5, 11, 11.5, 12.9, 13, 99});
  const JoinedStacks joined = join_stacks(stacks, two_iterations(), nullptr);
  EXPECT_EQ(joined.samples, 3U);
  EXPECT_EQ(joined.with_operator, 0U);
  EXPECT_EQ(joined.refused, "");
  ASSERT_THAT(stacks.samples, SizeIs(3));
  EXPECT_EQ(stacks.samples[0].iteration, 0U);
  EXPECT_EQ(stacks.samples[1].iteration, 0U);
  EXPECT_EQ(stacks.samples[2].iteration, 1U);
  EXPECT_THAT(operators_of(stacks), ElementsAre(none, none, none));
}

TEST(JoinStacks, TellsTheOperatorThatRan) {
  OperatorProfile profile = profile_of({"conv", "relu"});
  // Binary fractions, so that edges are exact.
  add_event(profile, 0, 0, 0.125, 0.375);
  add_event(profile, 0, 1, 0.625, 0.125);
  add_event(profile, 1, 1, 0.0, 0.5);
  StackProfile stacks = samples_at({10.0625, 10.125, 10.499, 10.5, 10.6875, 12.0, 12.625});
  const JoinedStacks joined = join_stacks(stacks, two_iterations(), &profile);
  EXPECT_THAT(operators_of(stacks), ElementsAre(none, Op(0), Op(0), none, Op(1), Op(1), none));
  EXPECT_EQ(joined.with_operator, 4U);
}

TEST(JoinStacks, OfOperatorsAroundOneAnotherTheInnermostCounts) {
  OperatorProfile profile = profile_of({"outer", "inner", "innermost"});
  add_event(profile, 0, 2, 0.3, 0.1);  // events may come in any order
  add_event(profile, 0, 1, 0.2, 0.4);
  add_event(profile, 0, 0, 0.2, 0.7);
  StackProfile stacks = samples_at({10.25, 10.35, 10.45, 10.65, 10.95});
  static_cast<void>(join_stacks(stacks, two_iterations(), &profile));
  EXPECT_THAT(operators_of(stacks), ElementsAre(Op(1), Op(2), Op(1), Op(0), none));
}

TEST(JoinStacks, OtherThreadsWorkForTheMainThreadsOperator) {
  OperatorProfile profile = profile_of({"conv", "elsewhere"});
  add_event(profile, 0, 0, 0.1, 0.4);
  add_event(profile, 0, 1, 0.2, 0.1, 1);  // an event of another thread
  StackProfile stacks = samples_at({10.25, 10.25});
  stacks.samples[1].thread = 1;
  static_cast<void>(join_stacks(stacks, two_iterations(), &profile));
  EXPECT_THAT(operators_of(stacks), ElementsAre(Op(0), Op(0)));
}

TEST(JoinStacks, IsRefusedWhereTheClocksSlipped) {
  OperatorProfile profile = profile_of({"conv"});
  add_event(profile, 0, 0, 0.1, 0.4);
  for (const std::int64_t slip_ns : {50'001LL, -50'001LL}) {
    Samples trial = two_iterations();
    trial.clock.realtime_slip_ns = slip_ns;
    StackProfile stacks = samples_at({10.25});
    const JoinedStacks joined = join_stacks(stacks, trial, &profile);
    EXPECT_THAT(joined.refused, HasSubstr("50 us")) << slip_ns;
    EXPECT_THAT(operators_of(stacks), ElementsAre(none));
    EXPECT_EQ(stacks.samples[0].iteration, 0U) << "iterations are of one clock";
  }
}

TEST(JoinStacks, WithoutEventsOnlyIterationsAreTold) {
  OperatorProfile profile = profile_of({"conv"});
  profile.mean_s = {0.4};
  profile.mean_calls = {1};
  StackProfile stacks = samples_at({10.25});
  EXPECT_EQ(join_stacks(stacks, two_iterations(), &profile).refused, "");
  EXPECT_THAT(operators_of(stacks), ElementsAre(none));
  EXPECT_EQ(stacks.samples[0].iteration, 0U);
}

TEST(JoinStacks, BearsEventsThatCannotBe) {
  OperatorProfile profile = profile_of({"conv"});
  add_event(profile, 0, 0, std::nan(""), 0.4);
  add_event(profile, 0, 0, 0.1, -1);
  add_event(profile, 0, 7, 0.1, 0.4);
  add_event(profile, 9, 0, 0.1, 0.4);
  add_event(profile, 0, 0, HUGE_VAL, 1);
  profile.begin_s.pop_back();
  StackProfile stacks = samples_at({10.25, std::nan("")});
  EXPECT_EQ(join_stacks(stacks, two_iterations(), &profile).with_operator, 0U);
  EXPECT_THAT(stacks.samples, SizeIs(1));
}

}  // namespace
}  // namespace infermeter::join_stacks_test
