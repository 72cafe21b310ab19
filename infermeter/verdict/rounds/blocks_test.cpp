#include "infermeter/verdict/rounds/blocks.hpp"

#include <gmock/gmock.h>

#include "infermeter/verdict/across_runs.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/test_pairs.hpp"

namespace infermeter::blocks_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Two subjects; blocks 1, 3 and 4 are disturbed.
RunRecord disturbed(int repeat) {
  RunRecord record = test::record_with_question(2, 6);
  record.plan.question.reset();
  record.plan.repeat_disturbed = repeat;
  test::add_pairs(record, 6, {0, 0.1});
  record.trials[2].noise.steal = 0.03;
  record.trials[7].noise.throttled_s = 0.001;
  record.trials[8].noise.foreign_cpu = 0.51;
  record.trials[10].noise.foreign_cpu = 0.49;  // below the limit
  return record;
}

TEST(Blocks, TheFirstDisturbedOnesAreSetAside) {
  EXPECT_THAT(blocks_set_aside(disturbed(0)), IsEmpty());
  EXPECT_THAT(blocks_set_aside(disturbed(2)), ElementsAre(1, 3));
  EXPECT_THAT(blocks_set_aside(disturbed(8)), ElementsAre(1, 3, 4));
  EXPECT_EQ(complete_blocks(disturbed(2)), 4);
  EXPECT_THAT(trials_that_count(disturbed(2)), SizeIs(8));
}

// All of the first ones: they are what there is, and others are to be measured all the same.
TEST(Blocks, AreToBeMeasuredAgainWhereAllWereDisturbed) {
  RunRecord record = disturbed(3);
  record.trials.resize(6);
  for (Samples& trial : record.trials) trial.noise.foreign_cpu = 0.9;
  EXPECT_THAT(blocks_set_aside(record), IsEmpty());
  EXPECT_EQ(complete_blocks(record), 3);
  EXPECT_EQ(blocks_worth_keeping(record), 0);
  EXPECT_EQ(blocks_worth_keeping(disturbed(2)), 4);
  EXPECT_EQ(blocks_worth_keeping(disturbed(0)), 6);
}

TEST(Blocks, LaterOnesChangeNothing) {
  RunRecord record = disturbed(2);
  while (record.trials.size() > 8) record.trials.pop_back();
  EXPECT_THAT(blocks_set_aside(record), ElementsAre(1, 3));
}

TEST(Blocks, SetAsideEnterNoFigure) {
  RunRecord record = disturbed(1);
  for (double& end_s : record.trials[3].end_s) end_s *= 100;
  EXPECT_THAT(trials_of(record, 1), SizeIs(5));
  const Verdict verdict = judge(record);
  EXPECT_NEAR(*verdict.subjects[1].ratios[0].estimate.value, std::exp(-0.1), 0.01);
  EXPECT_EQ(verdict.subjects[1].summary.metric("latency_p50")->estimate.processes, 5);
  record.plan.question.emplace();
  EXPECT_THAT(judge_comparison(record, true)->primary[0].differences, SizeIs(5));
}

TEST(Blocks, AreSaidToBeRepeated) {
  const RunRecord record = disturbed(1);
  const auto found = block_diagnostics(record);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, DiagnosticId::disturbed_repeated);
  EXPECT_EQ(found[0].message,
            "1 round was disturbed and measured again, and enters no figure: up to 3.0 % of the time was stolen");
  EXPECT_THAT(block_diagnostics(disturbed(0)), IsEmpty());
}

TEST(Blocks, CountWhereNothingElseIsLeft) {
  RunRecord record = disturbed(8);
  for (Samples& trial : record.trials) trial.noise.steal = 0.5;
  EXPECT_THAT(blocks_set_aside(record), IsEmpty());
  EXPECT_THAT(blocks_set_aside(RunRecord{}), IsEmpty());
}

}  // namespace
}  // namespace infermeter::blocks_test
