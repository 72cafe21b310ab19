#include "infermeter/report/overview/overview.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "infermeter/report/overview/headline.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/test_records.hpp"

namespace infermeter::overview_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Overview of_run(const RunRecord& record, const Verdict& verdict) {
  return overview_of_run(record, verdict, worded_answers(record, verdict));
}

TEST(Overview, EffectsAreChangesOfTheCandidatesWithTheirVerdicts) {
  const RunRecord record = test::example_record();
  const Verdict verdict = test::example_verdict(record);
  const Overview overview = of_run(record, verdict);
  ASSERT_EQ(overview.effects.size(), 3U);
  const Effect& faster = overview.effects[0];
  EXPECT_EQ(faster.group, "resnet50, batch size 1");
  EXPECT_EQ(faster.label, "openvino");
  EXPECT_EQ(faster.against, "onnxruntime");
  EXPECT_EQ(faster.verdict.verdict, "faster");
  EXPECT_DOUBLE_EQ(*faster.change, 1 / 1.08 - 1);
  EXPECT_DOUBLE_EQ(faster.change_interval->low, 1 / 1.11 - 1);
  EXPECT_DOUBLE_EQ(faster.change_interval->high, 1 / 1.05 - 1);
  EXPECT_EQ(overview.effects[1].verdict.verdict, "outputs differ");
  EXPECT_EQ(overview.effects[2].verdict.verdict, "failed");
  EXPECT_FALSE(overview.effects[2].change);
  EXPECT_EQ(overview.margin, record.plan.precision);
}

TEST(Overview, EffectsOfAComparisonAreThoseOfItsPairs) {
  const RunRecord record = test::comparison_record();
  Verdict verdict = test::comparison_verdict(record);
  verdict.comparison->primary[0].metric = "throughput";
  const std::vector<Effect> effects = effects_of(record, verdict);
  EXPECT_EQ(effects[0].group, "resnet50");
  EXPECT_EQ(effects[0].verdict.verdict, "better");
  EXPECT_DOUBLE_EQ(*effects[0].change, std::expm1(0.031));  // less effect is more throughput
  EXPECT_LT(effects[0].change_interval->low, effects[0].change_interval->high);
  EXPECT_EQ(margin_of(record), record.plan.question->margin);
}

TEST(Overview, WhatWentWrongIsTheHeadline) {
  const RunRecord record = test::example_record();
  const Verdict verdict = test::example_verdict(record);
  const Headline headline = of_run(record, verdict).headline;
  EXPECT_EQ(headline.text, "fake failed; the outputs of openvino differ");
  EXPECT_EQ(headline.tone, Tone::bad);
  EXPECT_EQ(headline.verdict, "problems");
}

// Two groups of two subjects that agree and end well.
struct FourSubjects {
  RunRecord record = test::example_record();
  Verdict verdict;
  FourSubjects() {
    record.plan.subjects.resize(4);
    record.trials.pop_back();
    record.outputs[1] = test::outputs_of_pair(3, 2, true, 1e-5);
    verdict = test::example_verdict(record);
    verdict.subjects.resize(4);
  }
};

TEST(Overview, SeveralGroupsAreCounted) {
  FourSubjects of;
  EXPECT_EQ(of_run(of.record, of.verdict).headline.text,
            "openvino against onnxruntime: faster in 1 of 2 (resnet50, batch size 1), undecided in 1 (vit_b_16, batch "
            "size 4)");
  EXPECT_EQ(of_run(of.record, of.verdict).headline.verdict, "mixed");
  of.verdict.subjects[3].direction = Direction::faster;
  EXPECT_EQ(of_run(of.record, of.verdict).headline.text, "openvino against onnxruntime: faster in 2 of 2");
  EXPECT_EQ(of_run(of.record, of.verdict).headline.tone, Tone::good);
}

TEST(Overview, OfOneCandidateItIsItsAnswer) {
  FourSubjects of;
  of.record.plan.subjects.resize(2);
  of.record.outputs.resize(1);
  of.verdict.subjects.resize(2);
  std::erase_if(of.record.trials, [](const Samples& trial) { return trial.subject > 1; });
  of.record.outputs.resize(1);
  of.verdict.subjects[1].outputs = of.record.outputs.data();
  of.verdict.answers = run_answers(of.record, of.verdict);
  const auto all = worded_answers(of.record, of.verdict);
  EXPECT_EQ(headline_of_run(of.record, of.verdict, effects_of(of.record, of.verdict), all).text, all.front().text);
}

TEST(Overview, TheWorstAnswerIsTheFirstOfTheWorst) {
  const auto answer = [](Tone tone, const char* text) {
    WordedAnswer one{.answer = {}, .text = text};
    one.answer.tone = tone;
    return one;
  };
  EXPECT_EQ(worst_of({answer(Tone::good, "a"), answer(Tone::bad, "b"), answer(Tone::bad, "c")}).text, "b");
  EXPECT_EQ(worst_of({answer(Tone::plain, "a"), answer(Tone::faint, "b"), answer(Tone::warning, "c")}).text, "c");
  EXPECT_TRUE(worst_of({}).text.empty());
}

TEST(Overview, AGateTellsWhatFailed) {
  const RunRecord record = test::example_record();
  Gate gate{.name = "gate.toml", .expectations = {}};
  gate.expectations.push_back(
      *parse_expectation({.that = {.text = "latency_p50_ms <= 20", .file = {}, .line = 1, .column = 1}}));
  GateVerdict verdict;
  verdict.passed = verdict.failed = 1;
  verdict.verdicts.resize(2);
  verdict.verdicts[0].outcome = Outcome::fail;
  verdict.verdicts[0].value = 0.0382;
  verdict.verdicts[1].outcome = Outcome::pass;
  const Headline failed = headline_of_gate(record, gate, verdict);
  EXPECT_THAT(failed.text,
              StartsWith("1 of 2 expectations failed: latency_p50_ms <= 20 on resnet50@onnxruntime: 38.2 ms"));
  EXPECT_THAT(failed.text, Not(HasSubstr("more")));
  verdict.failed = 0;
  verdict.verdicts.erase(verdict.verdicts.begin());
  EXPECT_EQ(headline_of_gate(record, gate, verdict).text, "the only expectation is met");
}

}  // namespace
}  // namespace infermeter::overview_test
