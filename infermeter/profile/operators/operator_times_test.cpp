#include "infermeter/profile/operators/operator_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "infermeter/profile/test_profiles.hpp"

namespace infermeter::operator_times_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Values of whole numbers: every sum below is exact.
TEST(OperatorTimes, AreMeansOverTheFastHalf) {
  Samples samples = samples_of(3, {10, 30, 20, 40, 12});
  OperatorProfile profile = profile_of({"a", "b"});
  const std::vector<double> of_a = {4, 9, 8, 9, 5};
  for (std::uint32_t i = 0; i < 5; ++i) {
    add_event(profile, i, 0, 1, of_a[i]);
    add_event(profile, i, 1, 11, 0.5);
  }
  const ProcessOperatorTimes times = process_operator_times({&samples, &profile});
  // Iterations of 10, 12 and 20; all five would give 22.4, the median 20.
  EXPECT_EQ(times.process, 3);
  EXPECT_EQ(times.iterations, 3u);
  EXPECT_DOUBLE_EQ(times.wall_s, 14);
  EXPECT_THAT(times.operator_s, ElementsAre(DoubleNear(17.0 / 3, 1e-12), 0.5));
  EXPECT_THAT(times.operator_calls, ElementsAre(1, 1));
  EXPECT_NEAR(times.rest_s, 14 - 17.0 / 3 - 0.5, 1e-12);
}

TEST(OperatorTimes, CountWhatIsNestedOnce) {
  Samples samples = samples_of(0, {20});
  OperatorProfile profile = profile_of({"outer", "inner", "innermost"});
  add_event(profile, 0, 0, 1, 10);
  add_event(profile, 0, 1, 2, 5);
  add_event(profile, 0, 2, 3, 1);
  add_event(profile, 0, 2, 5, 1);
  add_event(profile, 0, 1, 8, 2);
  const ProcessOperatorTimes times = process_operator_times({&samples, &profile});
  EXPECT_THAT(times.operator_s, ElementsAre(3, 5, 2));
  EXPECT_THAT(times.operator_calls, ElementsAre(1, 2, 2));
  EXPECT_EQ(times.rest_s, 10);
}

// A runtime's stamps are rounded: a next operator begins before the last one's end.
TEST(OperatorTimes, GiveAnInstantToOneOperatorOnly) {
  Samples samples = samples_of(0, {20});
  OperatorProfile profile = profile_of({"a", "b", "c"});
  add_event(profile, 0, 0, 0, 6);
  add_event(profile, 0, 1, 5, 5);
  add_event(profile, 0, 2, 10, 0);
  const ProcessOperatorTimes times = process_operator_times({&samples, &profile});
  EXPECT_THAT(times.operator_s, ElementsAre(5, 5, 0));
  EXPECT_EQ(times.rest_s, 10);
}

TEST(OperatorTimes, TakeTheLongerOfTwoThatBeginTogetherForTheOuterOne) {
  Samples samples = samples_of(0, {20});
  OperatorProfile profile = profile_of({"inner", "outer"});
  add_event(profile, 0, 0, 2, 3);
  add_event(profile, 0, 1, 2, 8);
  EXPECT_THAT(process_operator_times({&samples, &profile}).operator_s, ElementsAre(3, 5));
}

TEST(OperatorTimes, KeepOtherThreadsOutOfTheSum) {
  Samples samples = samples_of(0, {10});
  OperatorProfile profile = profile_of({"a"});
  add_event(profile, 0, 0, 1, 6);
  add_event(profile, 0, 0, 1, 7, 1);
  add_event(profile, 0, 0, 1, 8, 2);
  const ProcessOperatorTimes times = process_operator_times({&samples, &profile});
  EXPECT_THAT(times.operator_s, ElementsAre(6));
  EXPECT_THAT(times.helper_s, ElementsAre(15));
  EXPECT_THAT(times.operator_calls, ElementsAre(1));
  EXPECT_EQ(times.rest_s, 4);
}

TEST(OperatorTimes, SayThatOperatorsReachBeyondTheWallByANegativeRest) {
  Samples samples = samples_of(0, {10});
  OperatorProfile profile = profile_of({"a"});
  add_event(profile, 0, 0, -1, 12);
  EXPECT_EQ(process_operator_times({&samples, &profile}).rest_s, -2);
}

TEST(OperatorTimes, LeaveOutIterationsWithoutEvents) {
  Samples samples = samples_of(0, {10, 10, 2, 2, 2});
  OperatorProfile profile = profile_of({"a"});
  profile.cut = true;
  add_event(profile, 0, 0, 1, 6);
  add_event(profile, 1, 0, 1, 6);
  const ProcessOperatorTimes times = process_operator_times({&samples, &profile});
  EXPECT_EQ(times.iterations, 1u);
  EXPECT_EQ(times.wall_s, 10);
}

TEST(OperatorTimes, TakeASourcesMeansWithTheMeanOfAllIterations) {
  Samples samples = samples_of(0, {10, 20, 30});
  OperatorProfile profile = profile_of({"a", "b"});
  profile.mean_s = {12, 5};
  profile.mean_calls = {1, 4};
  const ProcessOperatorTimes times = process_operator_times({&samples, &profile});
  EXPECT_EQ(times.wall_s, 20);
  EXPECT_EQ(times.iterations, 3u);
  EXPECT_THAT(times.operator_s, ElementsAre(12, 5));
  EXPECT_THAT(times.operator_calls, ElementsAre(1, 4));
  EXPECT_EQ(times.rest_s, 3);
}

TEST(OperatorTimes, LeaveOutWhatCannotBe) {
  Samples samples = samples_of(0, {10, kNaN, -1, std::numeric_limits<double>::infinity()});
  OperatorProfile profile = profile_of({"a"});
  for (std::uint32_t i = 0; i < 4; ++i) add_event(profile, i, 0, 1, 2);
  add_event(profile, 0, 0, kNaN, 1);
  add_event(profile, 0, 0, 1, kNaN);
  add_event(profile, 0, 0, 5, -3);
  add_event(profile, 0, 0, 5, 1e308);
  add_event(profile, 0, 7, 5, 1);
  add_event(profile, 4, 0, 5, 1);
  profile.thread.pop_back();
  const ProcessOperatorTimes times = process_operator_times({&samples, &profile});
  EXPECT_EQ(times.iterations, 1u);
  EXPECT_THAT(times.operator_s, ElementsAre(2));
  EXPECT_EQ(times.rest_s, 8);

  OperatorProfile means = profile_of({"a", "b"});
  means.mean_s = {kNaN, -2, 3, 4};
  EXPECT_THAT(process_operator_times({&samples, &means}).operator_s, ElementsAre(0, 0));
}

TEST(OperatorTimes, OfNothingAreNothing) {
  const Samples samples = samples_of(0, {10});
  const OperatorProfile profile = profile_of({"a"});
  EXPECT_EQ(process_operator_times({&samples, &profile}).iterations, 0u);
  EXPECT_EQ(process_operator_times({nullptr, &profile}).iterations, 0u);
  EXPECT_EQ(process_operator_times({&samples, nullptr}).iterations, 0u);
}

struct Stretch {
  double begin = 0, end = 0;
};

// By counting the unit steps that any interval covers.
double union_of(const std::vector<Stretch>& intervals) {
  double covered = 0;
  for (int step = 0; step < 200; ++step) {
    covered += std::ranges::any_of(intervals, [&](Stretch i) { return i.begin <= step && step < i.end; }) ? 1 : 0;
  }
  return covered;
}

RC_GTEST_PROP(OperatorTimes, AddUpToTheUnionAndWithTheRestToTheWall, ()) {
  const auto count = *rc::gen::inRange(1, 20);
  Samples samples = samples_of(0, {200});
  OperatorProfile profile = profile_of({"a", "b", "c"});
  std::vector<Stretch> intervals;
  for (int i = 0; i < count; ++i) {
    const double begin = *rc::gen::inRange(0, 100);
    const double duration = *rc::gen::inRange(0, 100);
    add_event(profile, 0, static_cast<std::uint32_t>(*rc::gen::inRange(0, 3)), begin, duration);
    intervals.push_back({begin, begin + duration});
  }
  const ProcessOperatorTimes times = process_operator_times({&samples, &profile});
  const double sum = std::accumulate(times.operator_s.begin(), times.operator_s.end(), 0.0);
  RC_ASSERT(sum == union_of(intervals));
  RC_ASSERT(sum + times.rest_s == 200.0);
}

class Table : public testing::Test {
 protected:
  // Each process: one iteration, the two operators' times, a rest of 1.
  void add(int process, double a, double b, std::vector<std::string> names = {"a", "b"}) {
    auto& made = made_.emplace_back(std::make_unique<Made>());
    made->samples = samples_of(process, {a + b + 1});
    made->profile = profile_of(names);
    add_event(made->profile, 0, 0, 0, a);
    add_event(made->profile, 0, 1, a, b);
    trials_.push_back({&made->samples, &made->profile});
  }
  void add_timed(double latency) {
    auto& made = made_.emplace_back(std::make_unique<Made>());
    made->samples = samples_of(static_cast<int>(timed_.size()), {latency, latency, latency});
    timed_.push_back(&made->samples);
  }
  [[nodiscard]] OperatorTable table() const { return operator_table(trials_, timed_); }

  struct Made {
    Samples samples;
    OperatorProfile profile;
  };
  std::vector<std::unique_ptr<Made>> made_;
  std::vector<ProfileTrial> trials_;
  std::vector<const Samples*> timed_;
};

// Python: scipy.stats.t.interval(0.95, 2, 4, scipy.stats.sem([3, 4, 5]))
TEST_F(Table, HasIntervalsOverProcesses) {
  add(0, 1, 3);
  add(1, 1, 4);
  add(2, 1, 5);
  const OperatorTable t = table();
  ASSERT_EQ(t.operators.size(), 2u);
  EXPECT_EQ(t.operators[0].op, 1u);
  EXPECT_EQ(t.operators[0].mean_s, 4);
  EXPECT_NEAR(*t.operators[0].low_s, 1.515862, 1e-6);
  EXPECT_NEAR(*t.operators[0].high_s, 6.484138, 1e-6);
  EXPECT_NEAR(t.operators[0].share, 4.0 / 6, 1e-12);
  EXPECT_EQ(t.rest.mean_s, 1);
  EXPECT_EQ(t.rest.op, 2u);
  EXPECT_EQ(t.wall_s, 6);
  EXPECT_EQ(t.processes, 3u);
  EXPECT_EQ(t.profile, trials_.front().profile);
}

TEST_F(Table, NoTimeIsBelowZero) {
  add(0, 1, 0.1);
  add(1, 1, 0.2);
  add(2, 1, 5);
  EXPECT_EQ(table().operators[0].low_s, 0);
}

TEST_F(Table, OfOneProcessHasNoInterval) {
  add(0, 1, 3);
  EXPECT_FALSE(table().operators[0].low_s);
}

TEST_F(Table, LeavesOutOtherOperators) {
  add(0, 1, 3);
  add(1, 1, 3, {"a", "c"});
  add(2, 1, 3, {"a", "b", "c"});
  add(3, 1, 3);
  const OperatorTable t = table();
  EXPECT_EQ(t.processes, 2u);
  EXPECT_EQ(t.left_out, 2u);
}

// ONNX Runtime orders and numbers what it makes up anew in each process.
TEST_F(Table, KnowsOperatorsAgainByTheNodesThatTheyExecute) {
  add(0, 1, 3, {"first_token_1", "second_token_2"});
  add(1, 3, 1, {"second_token_7", "first_token_9"});
  const auto is = [](ProfiledOperator& op, const char* node) { op.kind = "Conv", op.nodes = {node}; };
  is(made_[0]->profile.operators[0], "x"), is(made_[0]->profile.operators[1], "y");
  is(made_[1]->profile.operators[0], "y"), is(made_[1]->profile.operators[1], "x");
  const OperatorTable t = table();
  EXPECT_EQ(t.left_out, 0u);
  ASSERT_EQ(t.operators.size(), 2u);
  EXPECT_EQ(t.operators[0].op, 1u);
  EXPECT_EQ(t.operators[0].mean_s, 3);
  EXPECT_EQ(t.operators[1].mean_s, 1);
}

TEST_F(Table, AddsUpToTheWall) {
  add(0, 0.1, 0.7);
  add(1, 0.3, 0.9);
  add(2, 0.123, 0.456);
  const OperatorTable t = table();
  double sum = t.rest.mean_s;
  for (const OperatorTime& time : t.operators) sum += time.mean_s;
  EXPECT_NEAR(sum, t.wall_s, 1e-12);
}

// Medians of 6 in the profile: against 5.7 it is 1.053, against 5.72 1.049.
TEST_F(Table, IsDistortedWhereTheProfileCostsMoreThanAFewPercent) {
  add(0, 2, 3);
  add_timed(5.70);
  EXPECT_TRUE(table().distorted);
  timed_.clear();
  add_timed(5.72);
  EXPECT_FALSE(table().distorted);
  EXPECT_NEAR(*table().clean_p50_s, 5.72, 1e-12);
  EXPECT_NEAR(*table().profiled_p50_s, 6, 1e-12);
}

TEST_F(Table, WithoutTimedTrialsIsNotCalledDistorted) {
  add(0, 2, 3);
  EXPECT_FALSE(table().distorted);
  EXPECT_FALSE(table().clean_p50_s);
}

// As latency_p50: geometric mean of the processes' medians, and of failed trials only where there are no others.
TEST_F(Table, ComparesWithTheMedianOfTheTimedTrials) {
  add(0, 2, 3);
  add_timed(4);
  add_timed(9);
  EXPECT_NEAR(*table().clean_p50_s, 6, 1e-12);
  made_.back()->samples.end = TrialEnd::crashed;
  EXPECT_NEAR(*table().clean_p50_s, 4, 1e-12);
}

TEST_F(Table, OfNothingIsEmpty) {
  const OperatorTable t = table();
  EXPECT_EQ(t.profile, nullptr);
  EXPECT_TRUE(t.operators.empty());
  EXPECT_EQ(t.wall_s, 0);
}

}  // namespace
}  // namespace infermeter::operator_times_test
