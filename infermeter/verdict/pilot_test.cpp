#include "infermeter/verdict/pilot.hpp"

#include <gtest/gtest.h>

#include "infermeter/verdict/test_pairs.hpp"

namespace infermeter::pilot_test {
namespace {

using test::record_with_question;
using test::scattered;

// `slow` iterations at three times the level first.
std::vector<double> times_with_warmup(int count, int slow, double level_s = 0.01) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(level_s * (i < slow ? 3 : 1) * (1 + 0.01 * scattered(i)));
  return times;
}

void add_pilot(RunRecord& record, int subject, const std::vector<double>& times, std::size_t warmups = 0) {
  Samples pilot = test::trial_with(subject, 0, times);
  pilot.purpose = Purpose::pilot;
  double total = 0;
  for (const double time : times) total += time;
  pilot.warmup_begin_s.assign(warmups, 0.0);
  pilot.warmup_end_s.assign(warmups, 0.01);
  pilot.wall_s = 0.5 + total + 0.01 * static_cast<double>(warmups);
  record.side_trials.push_back(std::move(pilot));
}

RunRecord automatic_record(bool with_question) {
  RunRecord record = record_with_question(2);
  record.plan.automatic = {.warmup = true, .iterations = true};
  if (!with_question) {
    record.plan.question.reset();
    record.plan.processes = 3;
  }
  return record;
}

Stopping settled(const RunRecord& record, std::size_t subject) {
  return settle(record.plan, find_in_pilots(record), subject);
}

std::optional<Outlook> outlook_of(const RunRecord& record) { return outlook(record.plan, find_in_pilots(record)); }

TEST(Pilot, IsNotNeededWhereNothingIsLeftOpen) { EXPECT_FALSE(next_pilot(record_with_question(2), 0)); }

TEST(Pilot, IsOneForARun) {
  RunRecord record = automatic_record(false);
  EXPECT_EQ(next_pilot(record, 0)->iterations, 200);
  EXPECT_EQ(next_pilot(record, 0)->warmup, 0);
  add_pilot(record, 0, times_with_warmup(200, 20));
  EXPECT_FALSE(next_pilot(record, 0));
  EXPECT_TRUE(next_pilot(record, 1));
}

TEST(Pilot, IsFiveForAQuestionTheLaterOnesShort) {
  RunRecord record = automatic_record(true);
  add_pilot(record, 0, times_with_warmup(200, 20));
  for (int later = 0; later < 4; ++later) {
    const auto next = next_pilot(record, 0);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->iterations, 20);
    EXPECT_NEAR(static_cast<double>(next->warmup), 20, 5);
    add_pilot(record, 0, times_with_warmup(20, 0), static_cast<std::size_t>(next->warmup));
  }
  EXPECT_FALSE(next_pilot(record, 0));
}

std::vector<double> times_with_late_step(int count, double level_s = 0.01) {
  auto times = times_with_warmup(count, 0, level_s);
  for (std::size_t i = times.size() * 9 / 10; i < times.size(); ++i) times[i] *= 2;
  return times;
}

TEST(Pilot, IsRepeatedLongerWhereItDoesNotSettle) {
  RunRecord record = automatic_record(false);
  add_pilot(record, 0, times_with_late_step(200));
  ASSERT_TRUE(next_pilot(record, 0));
  EXPECT_NEAR(static_cast<double>(*next_pilot(record, 0)->iterations), 600, 10);
  add_pilot(record, 0, times_with_warmup(600, 20));
  EXPECT_FALSE(next_pilot(record, 0));
  EXPECT_TRUE(find_in_pilots(record, 0).is_steady());
  EXPECT_NEAR(static_cast<double>(find_in_pilots(record, 0).warmup), 20, 5);
}

// What two processes show is the subject's: 100 slow iterations.
TEST(Pilot, IsRepeatedWhereWarmUpIsLong) {
  RunRecord record = automatic_record(false);
  add_pilot(record, 0, times_with_warmup(400, 100));
  ASSERT_TRUE(next_pilot(record, 0));
  EXPECT_EQ(*next_pilot(record, 0)->iterations, 400);
  EXPECT_EQ(next_pilot(record, 0)->warmup, 0);
  add_pilot(record, 0, times_with_warmup(400, 107));
  EXPECT_FALSE(next_pilot(record, 0));
  EXPECT_NEAR(static_cast<double>(find_in_pilots(record, 0).warmup), 100, 5);
}

// What each process shows at another place is the machine's.
TEST(Pilot, ThatWasDisturbedIsNotTakenForWarmUp) {
  RunRecord record = automatic_record(false);
  add_pilot(record, 0, times_with_warmup(200, 130));
  EXPECT_TRUE(next_pilot(record, 0));
  add_pilot(record, 0, times_with_warmup(200, 70));
  EXPECT_TRUE(next_pilot(record, 0));
  RunRecord other = record;
  add_pilot(record, 0, times_with_warmup(200, 0));
  EXPECT_FALSE(next_pilot(record, 0));
  EXPECT_EQ(find_in_pilots(record, 0).warmup, 3);
  EXPECT_EQ(find_in_pilots(record, 0).steady.kind, SteadyClass::flat);
  add_pilot(other, 0, times_with_warmup(200, 110));
  EXPECT_FALSE(next_pilot(other, 0)) << "three are enough";
  EXPECT_NEAR(static_cast<double>(find_in_pilots(other, 0).warmup), 70, 5);
  record.plan.automatic.warmup = false;
  record.side_trials.resize(1);
  EXPECT_FALSE(next_pilot(record, 0)) << "nobody asks for it";
}

// 100 iterations of 10 µs: a process costs half a second anyway.
TEST(Pilot, IsNotRepeatedForAWarmUpThatCostsNothing) {
  RunRecord record = automatic_record(false);
  add_pilot(record, 0, times_with_warmup(400, 100, 1e-5));
  EXPECT_FALSE(next_pilot(record, 0));
  EXPECT_NEAR(static_cast<double>(find_in_pilots(record, 0).warmup), 100, 5);
}

TEST(Pilot, OfAQuestionCountsTheLongOnesAmongTheFive) {
  RunRecord record = automatic_record(true);
  add_pilot(record, 0, times_with_warmup(400, 100));
  add_pilot(record, 0, times_with_warmup(400, 100));
  for (int later = 0; later < 3; ++later) {
    ASSERT_TRUE(next_pilot(record, 0));
    add_pilot(record, 0, times_with_warmup(20, 0), 100);
  }
  EXPECT_FALSE(next_pilot(record, 0));
}

TEST(Pilot, OfAFastSubjectIsRepeatedForSeconds) {
  RunRecord record = automatic_record(false);
  add_pilot(record, 0, times_with_late_step(200, 1e-4));  // over in 20 ms
  EXPECT_NEAR(static_cast<double>(*next_pilot(record, 0)->iterations), 27'000, 1000);
  record.side_trials.clear();
  add_pilot(record, 0, times_with_late_step(200, 1e-6));
  EXPECT_EQ(*next_pilot(record, 0)->iterations, 100'000);
}

TEST(Pilot, ThatNeverSettlesIsGivenUpAfterThree) {
  RunRecord record = automatic_record(false);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(next_pilot(record, 0));
    add_pilot(record, 0, times_with_late_step(200));
  }
  EXPECT_FALSE(next_pilot(record, 0));
  EXPECT_FALSE(find_in_pilots(record, 0).is_steady());
}

TEST(Pilot, IsNotAskedAThirdTimeWhereItFails) {
  RunRecord record = automatic_record(true);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(next_pilot(record, 0));
    add_pilot(record, 0, {});
    record.side_trials.back().end = TrialEnd::crashed;
  }
  EXPECT_FALSE(next_pilot(record, 0));
  EXPECT_EQ(settled(record, 0).iterations, record.plan.stopping.iterations);
}

TEST(Settle, TakesTheLongerWarmUpOfTheGroupForAll) {
  RunRecord record = automatic_record(false);
  add_pilot(record, 0, times_with_warmup(200, 0));
  add_pilot(record, 1, times_with_warmup(200, 40));
  EXPECT_NEAR(static_cast<double>(settled(record, 0).warmup), 40, 5);
  EXPECT_EQ(settled(record, 0).warmup, settled(record, 1).warmup);
  record.plan.subjects[1].group = 1;
  EXPECT_EQ(settled(record, 0).warmup, 3);
}

TEST(Settle, GivesARunWhatItsP99Needs) {
  RunRecord record = automatic_record(false);
  add_pilot(record, 0, times_with_warmup(200, 0));
  add_pilot(record, 1, times_with_warmup(200, 0));
  EXPECT_EQ(settled(record, 0).iterations, 299);  // 896 over three processes
  record.plan.processes = 1;
  EXPECT_EQ(settled(record, 0).iterations, 299);
}

TEST(Settle, DoesNotMeasureSlowModelsForMinutes) {
  RunRecord record = automatic_record(false);
  add_pilot(record, 0, times_with_warmup(20, 0, 0.5));
  add_pilot(record, 1, times_with_warmup(20, 0, 0.5));
  const auto iterations = *settled(record, 0).iterations;
  EXPECT_GE(iterations, 18);
  EXPECT_LE(iterations, 20);
}

// 200 iterations of 5 µs are 1 ms of a process of 60.
TEST(Settle, TimesAModelOfMicrosecondsForTwelveMilliseconds) {
  for (const bool compared : {false, true}) {
    RunRecord record = automatic_record(compared);
    for (int process = 0; process < (compared ? 5 : 1); ++process) {
      add_pilot(record, 0, times_with_warmup(200, 0, 5e-6));
      add_pilot(record, 1, times_with_warmup(200, 0, 8e-6));
    }
    EXPECT_NEAR(static_cast<double>(*settled(record, 0).iterations), 2400, 50);
    EXPECT_EQ(settled(record, 0).iterations, settled(record, 1).iterations);
    if (!compared) continue;
    record.plan.question->metric = "load_time";
    EXPECT_EQ(settled(record, 0).iterations, 10);
  }
}

TEST(Settle, WeighsProcessesAgainstIterationsForAQuestion) {
  RunRecord record = automatic_record(true);
  for (int subject = 0; subject < 2; ++subject) {
    for (int process = 0; process < 5; ++process)
      add_pilot(record, subject, times_with_warmup(200, 0, 0.01 + 0.001 * process));
  }
  // Processes differ far more than iterations: few iterations each.
  EXPECT_EQ(settled(record, 0).iterations, 10);
  record.plan.question->metric = "latency_p99";
  EXPECT_EQ(settled(record, 0).iterations, 299);  // for a p99 of its own
}

TEST(Settle, KeepsWhatWasAskedFor) {
  RunRecord record = automatic_record(false);
  record.plan.automatic.warmup = false;
  record.plan.stopping.warmup = 7;
  add_pilot(record, 0, times_with_warmup(200, 40));
  add_pilot(record, 1, times_with_warmup(200, 40));
  EXPECT_EQ(settled(record, 0).warmup, 7);
  EXPECT_EQ(settled(record, 0).iterations, 299);
}

TEST(Outlook, TellsWhatAPairTakesAndShows) {
  RunRecord record = automatic_record(true);
  for (int subject = 0; subject < 2; ++subject) {
    for (int process = 0; process < 5; ++process) {
      add_pilot(record, subject, times_with_warmup(200, 0, 0.01 * (1 + 0.01 * scattered(process + 10 * subject))));
    }
  }
  const auto expected = outlook_of(record);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->pairs, 40);
  EXPECT_GT(expected->pair_s, 1.0);  // two processes of half a second beside their iterations
  EXPECT_GT(expected->smallest_effect, 0);
  record.plan.question->budget_s = 10 * expected->pair_s;
  EXPECT_NEAR(outlook_of(record)->pairs, 10, 1);
}

}  // namespace
}  // namespace infermeter::pilot_test
