#include "infermeter/verdict/gate/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "infermeter/verdict/gate/test_gates.hpp"

namespace infermeter::study_test {
namespace {

using test::last;
using test::run_of;
using testing::ElementsAre;
using testing::HasSubstr;

// Twice as fast, give or take 4 % in a block; `counts` of both.
RunRecord cached(double first, double second) {
  RunRecord record = run_of({"a", "b"}, {{0.2, 0.204, 0.196}, {0.1, 0.098, 0.102}});
  for (Samples& trial : record.trials) trial.counters.push_back({"ffts", "1", trial.subject == 0 ? first : second});
  return record;
}

Prediction predicted(const RunRecord& record) {
  const auto all = predict(record, judge(record), "ffts", "latency_mean");
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? Prediction{} : all.front();
}

TEST(Prediction, IsTheRatioOfCountsBesideTheSpeedUp) {
  const Prediction found = predicted(cached(4021, 2122));
  EXPECT_EQ(found.first, 0);
  EXPECT_EQ(found.subject, 1);
  EXPECT_NEAR(*found.predicted, 1.895, 0.001);
  EXPECT_NEAR(*found.measured, 2.0, 1e-9);
  EXPECT_LT(found.interval->low, 2.0);
  EXPECT_GT(found.interval->high, 2.0);
}

TEST(Prediction, SaysOnWhichSideOfTheIntervalItLies) {
  EXPECT_EQ(fit_of(predicted(cached(4000, 2000))), PredictionFit::as_predicted);
  EXPECT_EQ(fit_of(predicted(cached(4000, 1000))), PredictionFit::less_than_predicted);
  EXPECT_EQ(fit_of(predicted(cached(4000, 4000))), PredictionFit::more_than_predicted);
}

TEST(Prediction, NeedsCountsAboveZero) {
  EXPECT_EQ(predicted(cached(4000, 0)).predicted, std::nullopt);
  EXPECT_EQ(predicted(run_of({"a", "b"}, {{0.2, 0.2}, {0.1, 0.1}})).first_count, std::nullopt);
  EXPECT_EQ(fit_of(predicted(cached(4000, 0))), std::nullopt);
}

TEST(CounterDifference, IsHeldAgainstTheFirstSubject) {
  RunRecord record = cached(32, 33);
  const ExpectationVerdict exact = last("difference(ffts) <= 1", record);
  EXPECT_EQ(exact.outcome, Outcome::pass);
  EXPECT_TRUE(exact.exact);
  EXPECT_EQ(exact.value, 1);
  EXPECT_EQ(last("difference(ffts) < 1", record).outcome, Outcome::fail);
  EXPECT_EQ(last("difference(ffts) < 1", cached(33, 32)).outcome, Outcome::fail);  // either way
  EXPECT_THAT(last("difference(fft) < 1", record).reason, HasSubstr("no process of the first subject counted 'fft'"));
}

TEST(CounterDifference, HasAnIntervalWhereCountsVary) {
  RunRecord record = cached(32, 33);
  record.trials[4].counters.back().value = 33.2;
  const ExpectationVerdict found = last("difference(ffts) < 1", record);
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(found.outcome, Outcome::inconclusive);
  EXPECT_LT(found.interval->low, 1);
  EXPECT_GT(found.interval->high, 1.2);
  // Where the two may be the same the distance may be none.
  record.trials[4].counters.back().value = 40;
  EXPECT_EQ(last("difference(ffts) < 1", record).interval->low, 0);
}

TEST(CounterDifference, IsWhatAPsnrDifferenceIsMadeOf) {
  RunRecord record = run_of({"a", "b"}, {{0.2, 0.2}, {0.1, 0.1}});
  EXPECT_EQ(last("psnr_difference_db < 1", record).reason, "not measured");
  for (Samples& trial : record.trials)
    trial.counters.push_back({"truth_psnr_db", "dB", trial.subject == 0 ? 32.0 : 30.5});
  EXPECT_EQ(last("psnr_difference_db < 1", record).outcome, Outcome::fail);
  EXPECT_EQ(last("psnr_difference_db < 1", record).value, 1.5);
  const Gate gate = test::gate_of({"psnr_difference_db < 1"});
  const GateVerdict verdict = judge_gate(gate, {.run = record, .verdict = judge(record)});
  ASSERT_EQ(verdict.verdicts.size(), 1U) << "the first is not compared with itself";
  EXPECT_EQ(verdict.verdicts.front().subject, 1);
  record.trials[0].counters.push_back({"psnr_difference_db", "dB", 0.5});
  EXPECT_EQ(judge_gate(gate, {.run = record, .verdict = judge(record)}).verdicts.size(), 2U);
}

TEST(RepeatedOutputs, AreTheSameBytesInEveryProcess) {
  RunRecord record = run_of({"a"}, {{0.2, 0.2, 0.2}});
  EXPECT_EQ(last("outputs repeat", record).outcome, Outcome::inconclusive);
  for (Samples& trial : record.trials) {
    trial.outputs.emplace_back();
    trial.output_digest = 5;
  }
  EXPECT_EQ(last("outputs repeat", record).outcome, Outcome::pass);
  record.trials[1].output_digest = 6;
  EXPECT_EQ(last("outputs repeat", record).outcome, Outcome::fail);
  record.trials[1].input_digest = 8;
  EXPECT_EQ(last("outputs repeat", record).outcome, Outcome::inconclusive);
}

StudiedPart part_of(const std::vector<std::string>& expectations, RunRecord record = cached(4000, 2000)) {
  StudyPartRequest request{.name = "part", .title = "A part", .gate = test::gate_of(expectations)};
  std::vector<RunRecord> runs;
  runs.push_back(std::move(record));
  return study_part(std::move(request), std::move(runs));
}

TEST(Study, HasTheOutcomeAndTheCodeOfItsWorstPart) {
  StudyRecord study;
  study.parts.push_back(part_of({}));
  EXPECT_EQ(outcome_of(study), std::nullopt);
  EXPECT_EQ(exit_code_of(study), 0);
  study.parts.push_back(part_of({"speedup(mean) >= 1.5"}));
  EXPECT_EQ(outcome_of(study), Outcome::pass);
  study.parts.push_back(part_of({"speedup(mean) >= 2"}));
  EXPECT_EQ(outcome_of(study), Outcome::inconclusive);
  EXPECT_EQ(exit_code_of(study), 0);
  study.parts.push_back(part_of({"speedup(mean) >= 3"}));
  EXPECT_EQ(outcome_of(study), Outcome::fail);
  EXPECT_EQ(exit_code_of(study), 1);
  RunRecord crashed = cached(4000, 2000);
  crashed.trials.back().end = TrialEnd::crashed;
  study.parts.push_back(part_of({}, crashed));
  EXPECT_EQ(exit_code_of(study), 4);
}

TEST(Study, ShowsASubjectAsIfItWereAlone) {
  RunRecord record = cached(4000, 2000);
  record.plan.order = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  record.plan.question = Question{};
  record.side_trials = {test::trial(0, 0, 0.2), test::trial(1, 0, 0.1)};
  record.side_trials[1].position = 1;
  record.profiles.resize(2);
  record.profiles[1].position = 1;
  const RunRecord alone = only_subject(record, 1);
  ASSERT_EQ(alone.plan.subjects.size(), 1U);
  EXPECT_EQ(alone.plan.subjects[0].label, "b");
  EXPECT_EQ(alone.plan.order.size(), 2U);
  EXPECT_EQ(alone.trials.size(), 3U);
  ASSERT_EQ(alone.profiles.size(), 1U);
  EXPECT_EQ(alone.profiles[0].position, 1);
  const Verdict verdict = judge(alone);
  ASSERT_EQ(verdict.subjects.size(), 1U);
  EXPECT_NEAR(*verdict.subjects[0].summary.metric("latency_mean")->estimate.value, 0.1, 0.01);
  EXPECT_FALSE(verdict.comparison);
}

}  // namespace
}  // namespace infermeter::study_test
