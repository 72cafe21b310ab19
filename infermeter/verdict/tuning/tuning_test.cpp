#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/samples/load/load_counters.hpp"
#include "infermeter/stats/test_queue.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/test_pairs.hpp"
#include "infermeter/verdict/tuning/bounds.hpp"

namespace infermeter::tuning_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What each setting takes, as logarithms above 10 ms; NaN: its process crashes.
using Levels = std::vector<double>;

RunRecord race_of(const Levels& levels) {
  RunRecord record = test::record_with_question(static_cast<int>(levels.size()));
  record.plan.question.reset();
  Tuning& tuning = record.plan.tuning.emplace();
  tuning.race_blocks = 40;
  tuning.budget_s = 1e6;
  record.plan.processes = tuning.race_blocks + tuning.confirmation_pairs;
  return record;
}

Samples process_of(int subject, int process, double level) {
  const double noise = 0.004 * (test::scattered(process * 17 + subject) - 0.5);
  const double median_s = 0.01 * std::exp(noise + (std::isnan(level) ? 0 : level));
  Samples trial = test::trial_with(subject, process, std::vector<double>(6, median_s));
  trial.memory.rss_peak_inference = 100'000'000U + static_cast<unsigned>(subject) * 50'000'000U;
  if (std::isnan(level)) trial.end = TrialEnd::crashed;
  return trial;
}

// Measures what the verdict asks for, until it asks for nothing, or so many trials are there.
void measure(RunRecord& record, const Levels& levels, std::size_t most = SIZE_MAX) {
  RaceValues values;
  while (true) {
    const TuningVerdict course = judge_race(record, values);
    if (!course.next) break;
    const NextBlock next = *course.next;
    for (const int subject : next.subjects) {
      const bool is_there = std::ranges::any_of(record.trials, [&](const Samples& trial) {
        return trial.subject == subject && trial.process == next.process;
      });
      if (is_there) continue;
      if (record.trials.size() == most) return;
      record.trials.push_back(process_of(subject, next.process, levels.at(static_cast<std::size_t>(subject))));
    }
  }
  record.finished = true;
}

std::vector<SettingFate> fates(const TuningVerdict& tuning) {
  std::vector<SettingFate> found;
  for (const TunedSetting& setting : tuning.settings) found.push_back(setting.fate);
  return found;
}

TEST(Tuning, TellsTheBestItsEqualsAndTheWorseAndConfirmsByFreshPairs) {
  const Levels levels = {0.1, 0.0, 0.001, 0.3};
  RunRecord record = race_of(levels);
  record.plan.tuning->indifference = 0.02;
  measure(record, levels);
  const Verdict verdict = judge(record);
  const TuningVerdict& tuning = *verdict.tuning;
  EXPECT_TRUE(tuning.decided);
  EXPECT_EQ(tuning.stage, TuningStage::ended);
  ASSERT_TRUE(tuning.best == 1 || tuning.best == 2);
  EXPECT_THAT(
      fates(tuning),
      testing::AnyOf(ElementsAre(SettingFate::worse, SettingFate::best, SettingFate::equal, SettingFate::worse),
                     ElementsAre(SettingFate::worse, SettingFate::equal, SettingFate::best, SettingFate::worse)));
  ASSERT_TRUE(tuning.against_default);
  EXPECT_EQ(tuning.against_default->differences.size(), 10U);
  EXPECT_NEAR(*tuning.against_default->estimate, -0.1, 0.005);
  EXPECT_EQ(tuning.against_default->direction, Direction::faster);
  ASSERT_TRUE(tuning.against_second);
  EXPECT_EQ(tuning.against_second->baseline, 3 - *tuning.best);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_EQ(verdict.answers.front().kind, AnswerKind::best);
  EXPECT_EQ(tuning.settings[3].out_after, tuning.settings[3].blocks);
  EXPECT_LT(tuning.settings[3].blocks, tuning.blocks);
}

// It is what the others are compared with: "not compared" would be wrong.
TEST(Tuning, SaysNothingOfTheOutputsOfTheReference) {
  const Levels levels = {0.0, 0.1};
  RunRecord record = race_of(levels);
  SubjectOutputs outputs{.subject = 1, .reference = 0, .comparison = {}};
  outputs.comparison.agree = true;
  record.outputs.push_back(outputs);
  measure(record, levels);
  const Verdict verdict = judge(record);
  ASSERT_EQ(verdict.tuning->best, 0);
  EXPECT_THAT(verdict.answers.front().besides, testing::IsEmpty());
}

TEST(Tuning, SaysTheSameWhereverItWasInterrupted) {
  const Levels levels = {0.05, 0.0, 0.02, 0.1};
  RunRecord unbroken = race_of(levels);
  measure(unbroken, levels);
  for (const std::size_t stop : {std::size_t{1}, std::size_t{7}, unbroken.trials.size() - 3}) {
    RunRecord broken = race_of(levels);
    measure(broken, levels, stop);
    EXPECT_FALSE(broken.finished);
    measure(broken, levels);
    ASSERT_EQ(broken.trials.size(), unbroken.trials.size());
    const Verdict one = judge(unbroken), other = judge(broken);
    EXPECT_EQ(one.tuning->best, other.tuning->best);
    EXPECT_EQ(fates(*one.tuning), fates(*other.tuning));
    EXPECT_EQ(one.tuning->against_default->estimate, other.tuning->against_default->estimate);
  }
}

TEST(Tuning, LeavesOutWhatFailsAndEndsWhereNothingIsLeft) {
  const double crash = std::nan("");
  RunRecord one = race_of({0.0, crash, 0.2});
  measure(one, {0.0, crash, 0.2});
  const Verdict verdict = judge(one);
  EXPECT_EQ(verdict.tuning->settings[1].fate, SettingFate::failed);
  EXPECT_EQ(verdict.tuning->best, 0);
  EXPECT_EQ(verdict.exit_code, 0);
  RunRecord none = race_of({crash, crash});
  measure(none, {crash, crash});
  const Verdict nothing = judge(none);
  EXPECT_FALSE(nothing.tuning->best);
  EXPECT_EQ(nothing.tuning->stage, TuningStage::ended);
  EXPECT_EQ(nothing.answers.front().kind, AnswerKind::fail);
  EXPECT_EQ(nothing.exit_code, 1);
}

// What others are compared with keeps to bounds on that itself; otherwise none would be called worse because of it.
// Without pilots the first process shows the outputs: the fastest ones are wrong, and take nobody's place.
TEST(Tuning, WrongOutputsTakeNoPlaceInTheRace) {
  Levels levels(40, 0.3);
  for (int i = 1; i <= 20; ++i) levels[static_cast<std::size_t>(i)] = 0;
  levels[30] = 0.2;
  RunRecord record = race_of(levels);
  record.plan.tuning->halving_blocks = 7;
  record.plan.processes += 7;
  RaceValues values;
  while (const auto next = judge_race(record, values).next) {
    for (const int subject : next->subjects) {
      const double level = levels.at(static_cast<std::size_t>(subject));
      record.trials.push_back(process_of(subject, next->process, level));
      if (next->process == 0 && subject > 0)
        record.outputs.push_back({.subject = subject, .comparison = {.agree = level > 0}});
    }
  }
  const TuningVerdict tuning = *judge(record).tuning;
  EXPECT_EQ(tuning.best, 30);
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(tuning.settings[static_cast<std::size_t>(i)].fate, SettingFate::outputs) << i;
}

TEST(Tuning, TheReferenceKeepsToBoundsOnOutputs) {
  const Levels levels = {0.0, 0.3, 0.5};
  RunRecord record = race_of(levels);
  record.plan.tuning->constraints = {"cosine >= 0.9", "accuracy_drop <= 1%"};
  for (const int subject : {1, 2}) {
    SubjectOutputs outputs{.subject = subject, .reference = 0, .comparison = {}};
    OutputDifference& difference = outputs.comparison.outputs.emplace_back();
    difference.cosine = 0.99;
    record.outputs.push_back(outputs);
  }
  measure(record, levels);
  const Verdict verdict = judge(record);
  EXPECT_EQ(verdict.tuning->best, 0);
  EXPECT_TRUE(verdict.tuning->decided);
  EXPECT_EQ(verdict.tuning->settings[0].bounds.at(0).kept, BoundKept::yes);
  EXPECT_EQ(verdict.tuning->settings[0].bounds.at(1).value, 0);
  EXPECT_EQ(verdict.tuning->settings[2].fate, SettingFate::worse);
}

TEST(Tuning, KeepsToConstraints) {
  const Levels levels = {0.2, 0.1, 0.0};  // 100, 150, 200 MB
  RunRecord record = race_of(levels);
  record.plan.tuning->constraints = {"peak_memory < 180MB"};
  measure(record, levels);
  const Verdict verdict = judge(record);
  EXPECT_EQ(verdict.tuning->best, 1);
  EXPECT_EQ(verdict.tuning->settings[2].fate, SettingFate::bound);
  EXPECT_THAT(verdict.tuning->settings[2].reason, HasSubstr("peak_memory < 180MB"));
  EXPECT_EQ(verdict.tuning->settings[1].bounds.at(0).kept, BoundKept::yes);
}

// A server of one place: 100 requests per second, each takes service_s on average.
Samples loaded_process(int subject, int process, double service_s) {
  Samples trial = process_of(subject, process, 0);
  const auto seed = static_cast<std::uint64_t>(process * 17 + subject);
  trial.load = record_of(poisson_queue(100, service_s, 1000, seed));
  trial.counters = load_counters(*trial.load);
  return trial;
}

RunRecord raced_under_load(const std::vector<double>& service_s, std::vector<std::string> constraints) {
  RunRecord record = race_of(Levels(service_s.size(), 0));
  record.plan.tuning->objective = "response_p50";
  record.plan.tuning->constraints = std::move(constraints);
  for (Subject& subject : record.plan.subjects) subject.load = {{"rate", "100"}, {"scenario", "server"}};
  RaceValues values;
  while (true) {
    const TuningVerdict course = judge_race(record, values);
    if (!course.next) break;
    for (const int subject : course.next->subjects) {
      const double own_s = service_s.at(static_cast<std::size_t>(subject));
      record.trials.push_back(loaded_process(subject, course.next->process, own_s));
    }
  }
  record.finished = true;
  return record;
}

TEST(Tuning, WhatDoesNotTakeTheLoadIsLeftOutAndTheOthersRaceByIt) {
  // Rates need no number of requests, and 1000 are enough for p99.
  const RunRecord record = raced_under_load({0.005, 0.013, 0.002}, {"achieved_rate >= 10", "response_p99 <= 1s"});
  const Verdict verdict = judge(record);
  EXPECT_THAT(fates(*verdict.tuning), ElementsAre(SettingFate::worse, SettingFate::load, SettingFate::best));
  EXPECT_THAT(verdict.tuning->settings[1].reason, HasSubstr("the queue"));
  for (const BoundVerdict& bound : verdict.tuning->settings[2].bounds) EXPECT_EQ(bound.kept, BoundKept::yes);
  EXPECT_EQ(verdict.answers.front().metric, "response_p50");
  EXPECT_EQ(verdict.answers.front().unit, "s");
  EXPECT_GT(verdict.answers.front().value.value_or(0), 0.001);
}

// Before it is known whether the one that leads takes the load, nobody is worse than it.
TEST(Tuning, WhoeverMayNotTakeTheLoadDropsNobody) {
  RunRecord record = raced_under_load({0.013, 0.005}, {});
  record.plan.tuning->objective = "memory_peak";  // 100 and 150 MB: the first one leads by far
  record.trials.clear();
  RaceValues values;
  while (const auto next = judge_race(record, values).next) {
    for (const int subject : next->subjects)
      record.trials.push_back(loaded_process(subject, next->process, subject == 0 ? 0.013 : 0.005));
  }
  const TuningVerdict tuning = *judge(record).tuning;
  EXPECT_THAT(fates(tuning), ElementsAre(SettingFate::load, SettingFate::best));
  EXPECT_TRUE(tuning.decided);
}

// Nothing can be compared with a goodput of 0.
TEST(Tuning, ASettingWithoutTheObjectiveLeavesTheRace) {
  RunRecord record = raced_under_load({0.005, 0.005}, {});
  record.plan.tuning->objective = "goodput";
  for (Subject& subject : record.plan.subjects) subject.load.emplace_back("goodput", "response<=20ms");
  record.trials.clear();
  RaceValues values;
  while (const auto next = judge_race(record, values).next) {
    ASSERT_LT(record.trials.size(), 200U);
    for (const int subject : next->subjects) {
      Samples trial = loaded_process(subject, next->process, 0.005);
      trial.load->good = subject == 0 ? 0 : trial.load->completed;
      trial.counters = load_counters(*trial.load);
      record.trials.push_back(std::move(trial));
    }
  }
  const TuningVerdict tuning = *judge(record).tuning;
  EXPECT_THAT(fates(tuning), ElementsAre(SettingFate::failed, SettingFate::best));
  EXPECT_THAT(tuning.settings[0].reason, HasSubstr("it has no goodput in any of its processes"));
  EXPECT_LE(tuning.blocks, 5);
}

TEST(Tuning, APercentileOfTooFewRequestsTellsNothingOfItsBound) {
  // Nobody is known to keep to the bound, so that the race goes on for all its blocks.
  const RunRecord record = raced_under_load({0.005, 0.002}, {"response_p99_9 <= 1s"});
  const Verdict verdict = judge(record);
  EXPECT_EQ(verdict.tuning->blocks, record.plan.tuning->race_blocks);
  const BoundVerdict& bound = verdict.tuning->settings[1].bounds.at(0);
  EXPECT_EQ(bound.kept, BoundKept::unknown);
  EXPECT_EQ(bound.why, "needs 6636 requests in each process");
}

TEST(Tuning, ResponseTimesOfRequestsThatCameAtOnceTellNothingOfTheirBound) {
  RunRecord record = raced_under_load({0.005, 0.002}, {"response_p50 <= 1s", "service_p50 <= 1s"});
  for (Subject& subject : record.plan.subjects) subject.load = {{"scenario", "offline"}};
  const Verdict verdict = judge(record);
  const auto& bounds = verdict.tuning->settings[1].bounds;
  EXPECT_EQ(bounds.at(0).kept, BoundKept::unknown);
  EXPECT_EQ(bounds.at(0).why, "all requests came at once");
  EXPECT_EQ(bounds.at(1).kept, BoundKept::yes);
}

// Others were dropped for a leader that a look found within its bound.
TEST(Tuning, WhatALookHasDecidedStaysDecided) {
  const Levels levels = {0.0, 0.001};
  RunRecord record = race_of(levels);
  record.plan.tuning->constraints = {"latency_p50 <= 10.5ms"};
  record.plan.tuning->indifference = 0;  // it goes on
  RaceValues values;
  while (const auto next = judge_race(record, values).next) {
    for (const int subject : next->subjects) {
      const double drift = next->process >= 6 ? 0.2 : 0;  // after the first look
      record.trials.push_back(process_of(subject, next->process, levels[static_cast<std::size_t>(subject)] + drift));
    }
  }
  const TuningVerdict tuning = *judge(record).tuning;
  EXPECT_TRUE(tuning.best);
  EXPECT_GT(tuning.blocks, 12);
  for (const TunedSetting& setting : tuning.settings) EXPECT_EQ(setting.bounds.at(0).kept, BoundKept::yes);
}

// Looks end after 20 processes: a race of more has no alpha left for another one.
TEST(Tuning, ABoundThatIsOpenAfterItsLastLookStaysOpen) {
  const Levels levels = {0.0, 0.0};
  RunRecord record = race_of(levels);
  record.plan.tuning->constraints = {"latency_p50 <= 10ms"};
  record.plan.tuning->indifference = 0;
  measure(record, levels);
  const TuningVerdict tuning = *judge(record).tuning;
  EXPECT_GT(tuning.blocks, 20);
  EXPECT_EQ(tuning.settings[0].bounds.at(0).kept, BoundKept::unknown);
  EXPECT_TRUE(tuning.settings[0].bounds.at(0).interval);
}

TEST(Tuning, AFigureOfALoadNeedsALoad) {
  Plan plan = race_of({0, 0}).plan;
  plan.tuning->objective = "response_p99";
  EXPECT_THAT(check_objective(plan).error().message, HasSubstr("response_p99 is a figure of a load"));
  for (Subject& subject : plan.subjects) subject.load = {{"rate", "100"}};
  EXPECT_TRUE(check_objective(plan).ok());
  plan.tuning->objective = "failed_share";
  EXPECT_THAT(check_objective(plan).error().message, HasSubstr("(--subject-to 'failed_share <= …')"));
  plan.tuning->objective = "response_p99";
  plan.tuning->constraints = {"max_rate >= 100"};
  EXPECT_THAT(check_objective(plan).error().message, HasSubstr("find_rate"));
  for (Subject& subject : plan.subjects) subject.load = {{"find_rate", "response_p99 <= 5ms"}};
  EXPECT_TRUE(check_objective(plan).ok());
}

TEST(Tuning, EndsWithItsBudget) {
  const Levels levels = {0.0, 0.001};
  RunRecord record = race_of(levels);
  record.plan.tuning->indifference = 0;  // nothing can be equal
  record.plan.tuning->budget_s = 40;     // seconds of 1 s each: the confirmation takes 20
  measure(record, levels);
  const Verdict verdict = judge(record);
  EXPECT_TRUE(verdict.tuning->out_of_time);
  EXPECT_LE(record.trials.size(), 40U);
  EXPECT_EQ(verdict.tuning->against_default || verdict.tuning->against_second, true);
  RunRecord nothing = race_of(levels);
  nothing.plan.tuning->budget_s = 0.5;
  measure(nothing, levels);
  EXPECT_LE(nothing.trials.size(), 2U);
  EXPECT_TRUE(judge(nothing).tuning->out_of_time);
}

TEST(Tuning, FindsTheParetoFront) {
  const Levels levels = {0.2, 0.1, 0.3};  // 100, 150, 200 MB: the last is beaten in both
  RunRecord record = race_of(levels);
  measure(record, levels);
  const Verdict verdict = judge(record);
  EXPECT_TRUE(verdict.tuning->settings[0].on_front);
  EXPECT_TRUE(verdict.tuning->settings[1].on_front);
  EXPECT_FALSE(verdict.tuning->settings[2].on_front);
}

TEST(Constraints, AreRefusedInOneSentence) {
  const auto error_of = [](const std::string& constraint) {
    Tuning tuning;
    tuning.constraints = {constraint};
    const auto bounds = bounds_of(tuning);
    return bounds.ok() ? std::string("no error") : bounds.error().message;
  };
  EXPECT_EQ(error_of("latency_p50 <= 50ms"), "no error");
  EXPECT_THAT(error_of("latencyp50 <= 50ms"), HasSubstr("--subject-to 'latencyp50 <= 50ms': "));
  EXPECT_THAT(error_of("speedup >= 3"), HasSubstr("bounds a figure of one setting"));
  EXPECT_THAT(objective_from_string("throughputs").error().message, HasSubstr("did you mean 'throughput'"));
}

}  // namespace
}  // namespace infermeter::tuning_test
