#include "infermeter/verdict/answers/checklist.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "infermeter/verdict/answers/run_checklist.hpp"
#include "infermeter/verdict/gate/test_gates.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/test_pairs.hpp"

// A value here names only the fields that a test is about.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace infermeter::checklist_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Check named(const std::vector<Check>& checks, const std::string& name) {
  const auto found = std::ranges::find(checks, name, &Check::name);
  if (found != checks.end()) return *found;
  ADD_FAILURE() << "no check is named " << name;
  return {};
}

Check check_of(const RunRecord& record, const std::string& name, const ChecklistOptions& options = {}) {
  return named(checklist(record, judge(record), options), name);
}

RunRecord two_subjects() { return test::run_of({"a", "b"}, {{0.02, 0.021, 0.02}, {0.01, 0.011, 0.01}}); }

constexpr const char* kTrials = "every trial ended well";

TEST(Checklist, OfAGoodRunPasses) {
  const RunRecord record = two_subjects();
  const auto checks = checklist(record, judge(record));
  EXPECT_THAT(checks, SizeIs(8));
  EXPECT_EQ(outcome_of(checks), Outcome::pass);
  EXPECT_EQ(named(checks, kTrials).detail, "6 of 6");
  EXPECT_EQ(named(checks, "enough processes for intervals").detail, "2 of 2 subjects have two or more");
  for (const char* name :
       {"the question is decided", "memory does not grow", "accuracy is kept", "outputs agree with the baseline's"}) {
    EXPECT_FALSE(named(checks, name).outcome) << name;
  }
}

TEST(Checklist, OfAnEmptyRunChecksNothing) {
  const RunRecord record;
  const auto checks = checklist(record, judge(record));
  EXPECT_FALSE(outcome_of(checks));
  for (const Check& check : checks) EXPECT_FALSE(check.detail.empty()) << check.name;
}

TEST(Checklist, SaysHowManyTrialsFailed) {
  RunRecord record = two_subjects();
  record.trials[4].end = TrialEnd::crashed;
  EXPECT_EQ(check_of(record, kTrials).outcome, Outcome::fail);
  EXPECT_EQ(check_of(record, kTrials).detail, "5 of 6");
  EXPECT_EQ(check_of(record, kTrials, {.variants = true}).outcome, Outcome::inconclusive);
}

TEST(Checklist, OfARunThatIsNotFinishedIsOpen) {
  RunRecord record = two_subjects();
  record.finished = false;
  EXPECT_EQ(check_of(record, kTrials).outcome, Outcome::inconclusive);
  EXPECT_THAT(check_of(record, kTrials).detail, HasSubstr("not finished"));
}

TEST(Checklist, FailsWhereOutputsDiffer) {
  RunRecord record = two_subjects();
  record.outputs = {{.subject = 1, .reference = 0, .comparison = {.agree = false, .items = 1}}};
  const char* name = "outputs agree with the baseline's";
  EXPECT_EQ(check_of(record, name).outcome, Outcome::fail);
  EXPECT_EQ(check_of(record, name).detail, "0 of 1 compared");
  EXPECT_FALSE(check_of(record, name, {.variants = true}).outcome);
  record.outputs[0].comparison.undecided = true;
  EXPECT_EQ(check_of(record, name).outcome, Outcome::inconclusive);
  EXPECT_EQ(check_of(record, name).detail, "0 of 1 compared; of 1 it cannot be determined");
  record.outputs[0].comparison = {.agree = true, .items = 1};
  EXPECT_EQ(check_of(record, name).outcome, Outcome::pass);
}

TEST(Checklist, NamesWhatIsNotAlike) {
  RunRecord record = two_subjects();
  for (Samples& trial : record.trials) {
    if (trial.subject == 1) trial.executed[0].second = "bfloat16";
  }
  const Check check = check_of(record, "like is compared with like");
  EXPECT_EQ(check.outcome, Outcome::fail);
  EXPECT_EQ(check.detail, "precision differs");
}

TEST(Checklist, SaysWhetherTheQuestionIsDecided) {
  RunRecord record = test::record_with_question(2);
  test::add_pairs(record, 16, {0, 0.2});
  const char* name = "the question is decided";
  EXPECT_EQ(check_of(record, name).outcome, Outcome::pass);
  EXPECT_EQ(check_of(record, name).detail, "1 of 1, after 16 pairs");
  record.trials.resize(4);
  EXPECT_EQ(check_of(record, name).outcome, Outcome::inconclusive);
}

TEST(Checklist, FailsWhereMemoryGrows) {
  const RunRecord record = two_subjects();
  Verdict verdict = judge(record);
  const char* name = "memory does not grow";
  verdict.subjects[0].leak = LeakEstimate{.verdict = LeakVerdict::no_leak};
  EXPECT_EQ(named(checklist(record, verdict), name).outcome, Outcome::pass);
  verdict.subjects[1].leak = LeakEstimate{.verdict = LeakVerdict::cannot_tell};
  EXPECT_EQ(named(checklist(record, verdict), name).outcome, Outcome::inconclusive);
  verdict.subjects[1].leak->verdict = LeakVerdict::leak;
  EXPECT_EQ(named(checklist(record, verdict), name).outcome, Outcome::fail);
}

TEST(Checklist, JudgesAccuracyByTheAllowanceOfRecommendations) {
  RunRecord record = two_subjects();
  const auto with = [&](std::uint64_t only_baseline, std::uint64_t only_candidate) {
    const std::uint64_t both = 8000, neither = 2000;
    const std::uint64_t rows = both + neither + only_baseline + only_candidate;
    record.accuracy.clear();
    for (const int subject : {0, 1}) {
      SubjectAccuracy& one = record.accuracy.emplace_back();
      one.subject = subject;
      one.accuracy.labels.emplace();
      one.accuracy.labels->rows = rows;
      one.accuracy.labels->top1 = both + (subject == 0 ? only_baseline : only_candidate);
    }
    record.accuracy[1].reference = 0;
    record.accuracy[1].paired = PairedRight{both, only_baseline, only_candidate, neither};
    return check_of(record, "accuracy is kept");
  };
  EXPECT_EQ(with(0, 0).outcome, Outcome::pass);
  EXPECT_EQ(with(500, 10).outcome, Outcome::fail);
  EXPECT_EQ(with(40, 36).outcome, Outcome::inconclusive);
  EXPECT_EQ(with(40, 36).detail, "kept by 0 of 1, lost by 0, 1 cannot be determined");
}

TEST(Checklist, NamesWhatDisturbedTheMachine) {
  RunRecord record = two_subjects();
  record.diagnostics = {{DiagnosticId::high_load, "", ""},
                        {DiagnosticId::swap_in_use, "", "a"},
                        {DiagnosticId::swap_in_use, "", "b"},
                        {DiagnosticId::few_cores, "", ""}};
  const Check check = check_of(record, "the machine was quiet");
  EXPECT_EQ(check.outcome, Outcome::fail);
  EXPECT_EQ(check.detail, "swap in use (2 times), high load");
  EXPECT_EQ(outcome_of(checklist(record, judge(record))), Outcome::pass) << "a caveat decides nothing";
}

TEST(Checklist, WantsTwoProcesses) {
  const RunRecord record = test::run_of({"a", "b"}, {{0.02}, {0.01, 0.01}});
  const Check check = check_of(record, "enough processes for intervals");
  EXPECT_EQ(check.outcome, Outcome::fail);
  EXPECT_EQ(check.detail, "1 of 2 subjects have two or more");
}

TEST(Checklist, OfAGateHasACheckForEachExpectation) {
  const RunRecord record = two_subjects();
  const Verdict verdict = judge(record);
  const Gate gate = test::gate_of({"latency_p50_ms <= 15", "latency_p50_ms <= 100", "speedup > 1"});
  const auto checks = checklist(record, gate, judge_gate(gate, {.run = record, .verdict = verdict}));
  ASSERT_THAT(checks, SizeIs(3));
  EXPECT_EQ(checks[0].name, "latency_p50_ms <= 15");
  EXPECT_EQ(checks[0].outcome, Outcome::fail);
  EXPECT_THAT(checks[0].detail, HasSubstr("1 of 2 subjects, the first is a: "));
  EXPECT_EQ(checks[1].outcome, Outcome::pass);
  EXPECT_EQ(checks[1].detail, "2 of 2 subjects");
  EXPECT_THAT(checks[2].detail, HasSubstr("b: "));
  EXPECT_EQ(outcome_of(checks), Outcome::fail);
}

TEST(Checklist, OfAValidationIsOutputsDropAndRepetition) {
  Validation validation;
  validation.items = {"0", "1"};
  validation.outputs = {.agree = true, .items = 2, .outputs = {{.name = "y", .within_tolerance = true}}};
  validation.again = {.agree = true, .items = 2, .outputs = {{.name = "y"}}};
  validation.again_items = 2;
  auto checks = checklist(validation);
  ASSERT_THAT(checks, SizeIs(3));
  EXPECT_EQ(outcome_of(checks), Outcome::pass);
  EXPECT_EQ(checks[0].detail, "1 of 1 outputs, on 2 items");
  EXPECT_FALSE(checks[1].outcome);
  validation.again.outputs[0].max_absolute = 0.5;
  EXPECT_EQ(outcome_of(checklist(validation)), Outcome::inconclusive);
  validation.again.outputs[0].max_absolute = 0;
  validation.outputs.agree = false;
  validation.outputs.undecided = true;
  EXPECT_EQ(outcome_of(checklist(validation)), Outcome::inconclusive);
  validation.outputs.undecided = validation.outputs.outputs[0].within_tolerance = false;
  EXPECT_EQ(outcome_of(checklist(validation)), Outcome::fail);
}

TEST(Checklist, OfTextsIsTheIncreaseOfPerplexityToo) {
  Validation validation;
  validation.perplexity = PerplexityChange{.increase = 0.2, .interval = Interval{0.1, 0.3}};
  ASSERT_THAT(checklist(validation), SizeIs(4));
  EXPECT_EQ(checklist(validation)[2].detail, "no increase was named (--max-increase)");
  validation.perplexity->allowed = 0.05;
  EXPECT_EQ(checklist(validation)[2].outcome, Outcome::fail);
  EXPECT_EQ(checklist(validation)[2].detail, "an increase of 0.05 is allowed");
}

LayersRecord two_tensors() {
  LayersRecord record;
  record.growth.tensors.resize(2);
  for (LayerDifference& tensor : record.growth.tensors) {
    tensor.name = "conv";
    tensor.dtype = "float32";
    tensor.floor = 1e-5;
  }
  return record;
}

TEST(Checklist, OfLayersSaysWhetherTheyPart) {
  LayersRecord record = two_tensors();
  EXPECT_EQ(outcome_of(checklist(record)), Outcome::pass);
  record.growth.tensors[1].reason = "holds texts that differ";
  EXPECT_EQ(outcome_of(checklist(record)), Outcome::inconclusive);
  record.growth.tensors[1].reason.clear();
  record.growth.candidate_only = {"x"};
  EXPECT_EQ(outcome_of(checklist(record)), Outcome::inconclusive);
  record.growth.jump = 1;
  const auto checks = checklist(record);
  EXPECT_EQ(outcome_of(checks), Outcome::fail);
  EXPECT_EQ(checks[0].detail, "they diverge at conv");
  EXPECT_EQ(checks[1].detail, "2 matched, 0 of the reference alone, 1 of the candidate alone");
  EXPECT_EQ(outcome_of(checklist(LayersRecord{})), Outcome::inconclusive);
}

TEST(Checklist, OfHistoriesSaysWhetherOneIsWorse) {
  History steady, worse, few;
  worse.changes.emplace_back().worse = true;
  few.too_few = true;
  EXPECT_EQ(outcome_of(checklist(std::vector<const History*>{&steady})), Outcome::pass);
  EXPECT_EQ(outcome_of(checklist(std::vector<const History*>{&steady, &few})), Outcome::inconclusive);
  const auto checks = checklist(std::vector<const History*>{&steady, &few, &worse});
  EXPECT_EQ(outcome_of(checks), Outcome::fail);
  EXPECT_EQ(checks[0].detail, "2 of 3 series");
  EXPECT_FALSE(outcome_of(checklist(std::vector<const History*>{})));
}

}  // namespace
}  // namespace infermeter::checklist_test
