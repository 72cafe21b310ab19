#include "infermeter/verdict/rounds/rounds.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/rounds/enough_rounds.hpp"
#include "infermeter/verdict/summary_options.hpp"
#include "infermeter/verdict/test_pairs.hpp"

namespace infermeter::verdict_rounds_test {
namespace {

// Of automatic length; each trial took a second.
RunRecord automatic(int subjects, int rounds, const std::vector<double>& slowdowns, double budget_s = 1000) {
  RunRecord record = test::record_with_question(subjects, 20);
  record.plan.question.reset();
  record.plan.automatic.processes = true;
  record.plan.budget_s = budget_s;
  test::add_pairs(record, rounds, slowdowns);
  return record;
}

TEST(Rounds, OfAFixedLengthEndOnlyWithThePlan) {
  RunRecord record = automatic(2, 5, {0, 0.5});
  record.plan.automatic.processes = false;
  EXPECT_FALSE(has_enough_rounds(record));
  EXPECT_NEAR(level_of_rounds(record), 0.05, 1e-12);
  EXPECT_EQ(summary_options(record).coverage.of_processes, 0.95);
  EXPECT_EQ(next_end(record), 20);
}

TEST(Rounds, EndAtALookWhereAllIsDecided) {
  EXPECT_TRUE(has_enough_rounds(automatic(2, 5, {0, 0.5})));
  EXPECT_FALSE(has_enough_rounds(automatic(2, 4, {0, 0.5})));  // no look
  EXPECT_TRUE(has_enough_rounds(automatic(2, 5, {0, 0})));     // ± 0.5 % lies within 2 %
  EXPECT_FALSE(has_enough_rounds(automatic(2, 6, {0, 0.5})));
  EXPECT_TRUE(has_enough_rounds(automatic(1, 5, {0})));
}

TEST(Rounds, GoOnWhereAnAnswerIsOpen) {
  RunRecord record = automatic(3, 5, {0, 0.5, 0});
  record.plan.precision = 0.001;
  EXPECT_FALSE(has_enough_rounds(record));
  record.plan.precision = 0.02;
  EXPECT_TRUE(has_enough_rounds(record));
  RunRecord alone = automatic(1, 5, {0});
  alone.plan.precision = 0.0001;
  EXPECT_FALSE(has_enough_rounds(alone));
}

// More processes make no figure of a subject that cannot run.
TEST(Rounds, DoNotWaitForSubjectsThatFail) {
  RunRecord record = automatic(2, 5, {0, 0});
  for (Samples& trial : record.trials) {
    if (trial.subject != 1) continue;
    trial.end = TrialEnd::crashed;
    trial.begin_s.clear();
    trial.end_s.clear();
  }
  EXPECT_TRUE(has_enough_rounds(record));
}

// Rounds of one process never have an interval to wait for.
TEST(Rounds, WithinAProgramAreTheLeast) {
  const auto within = [](RunRecord record) {
    for (Samples& trial : record.trials) trial.host_process = "4711@1";
    return record;
  };
  EXPECT_FALSE(has_enough_rounds(within(automatic(2, 2, {0, 0.5}))));
  EXPECT_TRUE(has_enough_rounds(within(automatic(2, 3, {0, 0.5}))));
  EXPECT_EQ(next_end(within(automatic(2, 1, {0, 0.5}))), 3);
}

TEST(Rounds, EndWhereAnotherTakesTooLong) {
  EXPECT_FALSE(has_enough_rounds(automatic(2, 2, {0, 0}, 1)));  // three at least
  EXPECT_TRUE(has_enough_rounds(automatic(2, 3, {0, 0.0001}, 7)));
  EXPECT_FALSE(has_enough_rounds(automatic(2, 3, {0, 0.0001}, 8)));  // a fourth ends at 8 s
  EXPECT_TRUE(has_enough_rounds(automatic(2, 4, {0, 0.0001}, 9)));
}

TEST(Rounds, CountWholeOnes) {
  RunRecord record = automatic(2, 4, {0, 0});
  record.trials.pop_back();
  EXPECT_EQ(complete_blocks(record), 3);
  record.trials.clear();
  EXPECT_EQ(complete_blocks(record), 0);
}

// A run that time ended has looked less often: its intervals are narrower.
TEST(Rounds, IntervalsAreWiderForTheLooks) {
  RunRecord record = automatic(2, 5, {0, 0.5});
  const double open = level_of_rounds(record);
  EXPECT_NEAR(open, 0.01787, 1e-4);
  record.finished = true;
  EXPECT_EQ(level_of_rounds(record), open);
  record.plan.budget_s = 10;  // no sixth
  EXPECT_NEAR(level_of_rounds(record), 0.05, 1e-9);
  EXPECT_NEAR(summary_options(record).coverage.of_processes, 0.95, 1e-9);

  const auto width = [](const RunRecord& of) {
    const Verdict verdict = judge(of);
    const Interval interval = *verdict.subjects[1].ratios[0].estimate.interval;
    EXPECT_EQ(interval.confidence, 0.95);
    return std::log(interval.high / interval.low);
  };
  RunRecord fixed = record;
  fixed.plan.automatic.processes = false;
  EXPECT_DOUBLE_EQ(width(record), width(fixed));
  record.plan.budget_s = 1000;
  // Student's quantiles with 4 degrees of freedom: 3.86 at 1.787 %, 2.78 at 5 %.
  EXPECT_NEAR(width(record) / width(fixed), 1.392, 0.01);
}

TEST(Rounds, ForetellTheNextEnd) {
  EXPECT_EQ(next_end(automatic(2, 0, {0, 0})), 5);
  EXPECT_EQ(next_end(automatic(2, 5, {0, 0})), 8);
  EXPECT_EQ(next_end(automatic(2, 13, {0, 0})), 20);
  EXPECT_EQ(next_end(automatic(2, 2, {0, 0}, 7)), 3);
  EXPECT_EQ(next_end(automatic(2, 5, {0, 0}, 14)), 7);
  RunRecord under_way = automatic(2, 6, {0, 0}, 14);
  under_way.trials.pop_back();
  EXPECT_EQ(next_end(under_way), 7) << "half a round more is not a dearer round";
}

TEST(Rounds, SmallDifferencesAreNone) {
  RunRecord record = automatic(2, 5, {0, 0});
  record.finished = true;
  EXPECT_EQ(judge(record).subjects[1].direction, Direction::equivalent);
  record.plan.precision = 0.0001;
  EXPECT_EQ(judge(record).subjects[1].direction, Direction::unresolved);
}

}  // namespace
}  // namespace infermeter::verdict_rounds_test
