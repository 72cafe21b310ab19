#include "infermeter/verdict/gate/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "infermeter/verdict/gate/test_gates.hpp"

namespace infermeter::gate_test {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

// The outcome where the p50 is 11 ms [10, 12].
ExpectationVerdict with_interval(const std::string& expectation, int processes = 3) {
  const RunRecord record = run_of({"a"}, {{0.011, 0.011, 0.011}});
  Verdict verdict = judge(record);
  for (Metric& metric : verdict.subjects[0].summary.metrics) {
    if (metric.name != "latency_p50") continue;
    metric.estimate.value = 0.011;
    metric.estimate.interval = Interval{0.010, 0.012};
    metric.estimate.processes = processes;
  }
  return judge_gate(gate_of({expectation}), {.run = record, .verdict = verdict}).verdicts.at(0);
}

TEST(Gate, JudgesTheIntervalAndNotTheValue) {
  EXPECT_EQ(with_interval("latency_p50_ms <= 12").outcome, Outcome::pass);  // the bound itself keeps to it
  EXPECT_EQ(with_interval("latency_p50_ms < 12").outcome, Outcome::inconclusive);
  EXPECT_EQ(with_interval("latency_p50_ms <= 11.5").outcome, Outcome::inconclusive);  // though the value does
  EXPECT_EQ(with_interval("latency_p50_ms <= 10").outcome, Outcome::inconclusive);
  EXPECT_EQ(with_interval("latency_p50_ms < 10").outcome, Outcome::fail);
  EXPECT_EQ(with_interval("latency_p50_ms >= 10").outcome, Outcome::pass);
  EXPECT_EQ(with_interval("latency_p50_ms > 10").outcome, Outcome::inconclusive);
  EXPECT_EQ(with_interval("latency_p50_ms >= 12").outcome, Outcome::inconclusive);
  EXPECT_EQ(with_interval("latency_p50_ms > 12").outcome, Outcome::fail);
  EXPECT_EQ(with_interval("latency_p50_ms == 11").outcome, Outcome::inconclusive);
  EXPECT_EQ(with_interval("latency_p50_ms == 13").outcome, Outcome::fail);
}

TEST(Gate, SaysWhyAndOnWhat) {
  const ExpectationVerdict pass = with_interval("latency_p50_ms <= 12");
  EXPECT_EQ(pass.value, 0.011);
  EXPECT_EQ(pass.interval->high, 0.012);
  EXPECT_EQ(pass.n, 60);
  EXPECT_EQ(pass.processes, 3);
  EXPECT_EQ(pass.reason, "the whole interval keeps within the bound");
  EXPECT_EQ(with_interval("latency_p50_ms > 12").reason, "the whole interval violates the bound");
}

// The half-width of three is 1 ms and the bound 0.5 ms away: t/√n is 4.303/√3 = 2.484 for 3, and 2.776/√5 = 1.241
// for 5.
TEST(Gate, SaysHowManyMoreWouldTell) {
  EXPECT_EQ(with_interval("latency_p50_ms <= 11.5").reason,
            "the interval includes the bound; about 5 processes would settle it (--processes 5)");
  EXPECT_EQ(with_interval("latency_p50_ms <= 11.9", 8).reason,
            "the interval includes the bound; about 10 processes would settle it (--processes 10)");
  EXPECT_EQ(with_interval("latency_p50_ms <= 11").reason,
            "the interval includes the bound; the value is so close to the bound that more processes are unlikely to "
            "settle it");
}

// Two processes that differ five times: t is 12.7, and the interval is symmetric in logarithms.
TEST(Gate, AdvisesFewMoreWhereTwoDifferMuch) {
  const RunRecord record = run_of({"a"}, {{0.00006, 0.0003}});
  EXPECT_THAT(last("latency_p50_ms <= 5", record).reason,
              EndsWith("about 3 processes would settle it (--processes 3)"));
  EXPECT_THAT(last("latency_p50_ms <= 0.5", record).reason,
              EndsWith("about 6 processes would settle it (--processes 6)"));
}

TEST(Gate, OneProcessTellsNothingOfWhatVaries) {
  const RunRecord record = run_of({"a"}, {{0.01}});
  const ExpectationVerdict p50 = last("latency_p50_ms <= 12", record);
  EXPECT_EQ(p50.outcome, Outcome::inconclusive);
  EXPECT_TRUE(p50.value);
  EXPECT_EQ(p50.reason, "needs 2 processes for an interval (--processes 3)");
  EXPECT_EQ(last("hit_rate >= 0.8", record).reason, "needs 2 processes for an interval (--processes 3)");
}

TEST(Gate, TooFewIterationsAreTheReason) {
  const ExpectationVerdict p99 = last("latency_p99_ms <= 1000", run_of({"a"}, {{0.01, 0.011}}));
  EXPECT_EQ(p99.outcome, Outcome::inconclusive);
  EXPECT_EQ(p99.reason, "needs 299 iterations (--iterations)");
  EXPECT_EQ(p99.n, 40);
}

TEST(Gate, FactsNeedNoInterval) {
  const RunRecord record = run_of({"a"}, {{0.01}});
  EXPECT_EQ(last("model_size_mb <= 102.4", record).outcome, Outcome::pass);
  EXPECT_EQ(last("model_size_mb < 102.4", record).outcome, Outcome::fail);
  EXPECT_EQ(last("parameters == 25557032", record).outcome, Outcome::pass);
  EXPECT_EQ(last("latency_max_ms <= 11", record).outcome, Outcome::pass);
  EXPECT_EQ(last("latency_max_ms <= 10", record).outcome, Outcome::fail);  // the last iteration took 10.19 ms
  RunRecord unknown = record;
  unknown.models.clear();
  EXPECT_EQ(last("parameters == 3", unknown).reason, "the model's format does not contain it");
  EXPECT_EQ(last("model_size_mb == 3", unknown).outcome, Outcome::inconclusive);
}

TEST(Gate, CountersAreExactWhereAllProcessesCountTheSame) {
  const RunRecord record = run_of({"a"}, {{0.01, 0.01, 0.01}});
  const ExpectationVerdict rate = last("hit_rate >= 90%", record);
  EXPECT_EQ(rate.outcome, Outcome::pass);
  EXPECT_TRUE(rate.exact);
  EXPECT_EQ(rate.n, 3);
  const ExpectationVerdict served = last("served <= 101.5", record);  // 100, 101, 102
  EXPECT_EQ(served.outcome, Outcome::inconclusive);
  EXPECT_FALSE(served.exact);
  EXPECT_EQ(last("served <= 150", record).outcome, Outcome::pass);
  EXPECT_EQ(last("memory_load_mb <= 1", record).outcome, Outcome::pass);
}

TEST(Gate, FiguresOfALoadAreJudgedOverProcesses) {
  RunRecord record = run_of({"a"}, {{0.010, 0.010, 0.010}});
  for (std::size_t i = 0; i < 3; ++i) {
    const double response_s = 0.040 + 0.001 * static_cast<double>(i);
    record.trials[i].counters = {{"response_p99", "s", response_s},
                                 {"response_p99_9", "s", response_s},
                                 {"achieved_rate", "1/s", 100.0},
                                 {"failed_share", "share", 0.0}};
  }
  const ExpectationVerdict p99 = last("response_p99 <= 50ms", record);
  EXPECT_EQ(p99.outcome, Outcome::pass);
  EXPECT_NEAR(*p99.value, std::cbrt(0.040 * 0.041 * 0.042), 1e-12);
  EXPECT_EQ(p99.n_of, "processes");
  EXPECT_EQ(last("response_p99_ms <= 30", record).outcome, Outcome::fail);
  EXPECT_EQ(last("achieved_rate >= 99 /s", record).outcome, Outcome::pass);
  EXPECT_EQ(last("failed_share <= 1 %", record).outcome, Outcome::pass);
  EXPECT_EQ(last("response_p50 <= 50ms", record).reason, "not measured");
  // What is more than the subject can take passes nothing, and what fails fails.
  for (Samples& trial : record.trials) trial.load = LoadRecord{.completed = 999, .failed = 1};
  EXPECT_EQ(last("response_p99 <= 50ms", record).outcome, Outcome::inconclusive);
  EXPECT_EQ(last("response_p99 <= 30ms", record).outcome, Outcome::fail);
  EXPECT_THAT(last("response_p99 <= 50ms", record).notes,
              testing::Contains(testing::HasSubstr("1 of 1000 requests failed")));
  // Of too few requests a percentile is the slowest of them.
  for (Samples& trial : record.trials) trial.load = LoadRecord{.completed = 6635};
  EXPECT_EQ(last("response_p99_9 <= 50ms", record).outcome, Outcome::inconclusive);
  EXPECT_EQ(last("response_p99_9 <= 50ms", record).reason, "needs 6636 requests in each process");
  EXPECT_EQ(last("response_p99 <= 50ms", record).outcome, Outcome::pass);
  record.plan.subjects[0].load = {{"scenario", "offline"}};
  for (Samples& trial : record.trials) trial.load->completed = 10'000;
  EXPECT_EQ(last("response_p99 <= 50ms", record).reason, "all requests came at once");
  EXPECT_THAT(parse_expectation({.that = {.text = "response_p99 <= 50"}}).error().message,
              testing::HasSubstr("response_p99 needs a unit"));
}

TEST(Gate, WhatIsNotMeasuredIsInconclusive) {
  const RunRecord record = run_of({"a"}, {{0.01, 0.01}});
  const ExpectationVerdict rate = last("hit_rat >= 0.8", record);
  EXPECT_EQ(rate.outcome, Outcome::inconclusive);
  EXPECT_EQ(rate.reason, "no process counted 'hit_rat' (did you mean 'hit_rate'?)");
  EXPECT_EQ(last("compilation_time_ms <= 1", record).reason, "not measured");
  RunRecord counted = record;
  for (Samples& samples : counted.trials) samples.counters.push_back({"psnr_difference_db", "dB", 0.5});
  EXPECT_EQ(last("psnr_difference_db < 1", counted).outcome, Outcome::pass);
}

TEST(Gate, ASubjectThatFailedFails) {
  RunRecord record = run_of({"a", "b"}, {{0.01, 0.01}, {0.01, 0.01}});
  record.trials[3].end = TrialEnd::crashed;
  record.trials[3].signal = 11;
  record.trials[3].phase = Phase::timed;
  const GateVerdict verdict = judged("model_size_mb <= 200", record);
  EXPECT_EQ(verdict.verdicts[0].outcome, Outcome::pass);
  EXPECT_EQ(verdict.verdicts[1].outcome, Outcome::fail);
  EXPECT_EQ(verdict.verdicts[1].reason, "in 1 of 2 processes: crashed by signal 11 in phase timed");
  EXPECT_EQ(verdict.exit_code, 4);
  record.trials[3].end = TrialEnd::interrupted;
  EXPECT_EQ(judged("model_size_mb <= 200", record).verdicts[1].outcome, Outcome::inconclusive);
}

SubjectOutputs outputs_of(int subject, bool agree, double difference) {
  OutputDifference output;
  output.name = "logits";
  output.within_tolerance = agree;
  output.element_count = 1000;
  output.mismatched = agree ? 0 : 12;
  output.max_absolute = difference;
  output.relative_l2 = difference / 10;
  output.top1_agreement = 0.75;
  OutputDifference second = output;
  second.max_absolute = difference / 2;
  second.top1_agreement = std::nullopt;
  return {.subject = subject,
          .reference = 0,
          .comparison = {.agree = agree, .items = 3, .outputs = {second, output}, .diagnostics = {}}};
}

TEST(Gate, OutputsAreJudgedAsTheyWereCompared) {
  RunRecord record = run_of({"a", "b"}, {{0.01, 0.01}, {0.01, 0.01}});
  EXPECT_EQ(last("outputs agree", record).reason, "outputs were not compared: one of the two gave none");
  record.outputs = {outputs_of(1, true, 0.001)};
  const GateVerdict agree = judged("outputs agree", record);
  ASSERT_EQ(agree.verdicts.size(), 1U);  // of the first there is nothing to compare it with
  EXPECT_EQ(agree.verdicts[0].outcome, Outcome::pass);
  EXPECT_EQ(agree.verdicts[0].n, 3);
  EXPECT_EQ(last("max_absolute_difference <= 0.001", record).outcome, Outcome::pass);
  EXPECT_EQ(last("max_absolute_difference < 0.001", record).outcome, Outcome::fail);
  EXPECT_EQ(last("relative_l2 <= 0.0001", record).outcome, Outcome::pass);
  EXPECT_EQ(last("top1_agreement >= 80%", record).outcome, Outcome::fail);
  EXPECT_EQ(last("cosine >= 0.5", record).outcome, Outcome::inconclusive);
  record.outputs = {outputs_of(1, false, 0.5)};
  EXPECT_EQ(last("outputs agree", record).outcome, Outcome::fail);
  EXPECT_THAT(last("outputs agree", record).reason, HasSubstr("12 of 1000 elements are beyond tolerance"));
  EXPECT_THAT(last("speedup >= 1", record).notes, ElementsAre(HasSubstr("outputs differ")));
}

TEST(Gate, OutputsThatTellNothingAreInconclusive) {
  RunRecord record = run_of({"a", "b"}, {{0.01, 0.01}, {0.01, 0.01}});
  record.outputs = {outputs_of(1, true, 0)};
  OutputComparison& comparison = record.outputs[0].comparison;
  comparison.agree = false;
  comparison.undecided = true;
  comparison.outputs[1].undecided = "is 0 throughout in both";
  EXPECT_EQ(last("outputs agree", record).outcome, Outcome::inconclusive);
  EXPECT_EQ(last("outputs agree", record).reason, "output 'logits' is 0 throughout in both");
  EXPECT_THAT(last("speedup >= 1", record).notes, ElementsAre(HasSubstr("cannot be determined")));
}

// One output whose reference is 0 and that differs, beside one that is close: nothing is relative to 0.
TEST(Gate, AFigureThatOneOutputHasNotIsNone) {
  RunRecord record = run_of({"a", "b"}, {{0.01, 0.01}, {0.01, 0.01}});
  record.outputs = {outputs_of(1, false, 0.001)};
  for (OutputDifference& output : record.outputs[0].comparison.outputs) output.cosine = 1;
  EXPECT_EQ(last("relative_l2 <= 0.01", record).outcome, Outcome::pass);
  EXPECT_EQ(last("cosine >= 0.99", record).outcome, Outcome::pass);
  OutputDifference& wrong = record.outputs[0].comparison.outputs[0];
  wrong.relative_l2 = wrong.cosine = std::nullopt;
  EXPECT_EQ(last("relative_l2 <= 0.01", record).outcome, Outcome::inconclusive);
  EXPECT_EQ(last("cosine >= 0.99", record).outcome, Outcome::inconclusive);
  wrong.max_absolute = 0;  // both are 0
  EXPECT_EQ(last("relative_l2 <= 0.01", record).outcome, Outcome::pass);
}

TEST(Gate, OutputsThatCannotBeComparedFailWhatIsExpectedOfThem) {
  RunRecord record = run_of({"a", "b"}, {{0.01, 0.01}, {0.01, 0.01}});
  record.outputs = {outputs_of(1, false, 0)};
  record.outputs[0].comparison.outputs[1].non_finite_apart = 4;
  EXPECT_EQ(last("max_absolute_difference <= 1", record).reason,
            "output 'logits': 4 elements are NaN or infinite in one of the two");
  record.outputs[0].comparison.outputs[0].comparable = false;
  record.outputs[0].comparison.outputs[0].reason = "other shapes";
  EXPECT_EQ(last("max_absolute_difference <= 1", record).outcome, Outcome::fail);
  EXPECT_EQ(last("outputs agree", record).reason, "output 'logits' cannot be compared: other shapes");
}

TEST(Gate, LeaksAreJudgedByTheLeakTrial) {
  const RunRecord record = run_of({"a"}, {{0.01, 0.01}});
  Verdict verdict = judge(record);
  const auto found = [&] {
    return judge_gate(gate_of({"no leak"}), {.run = record, .verdict = verdict}).verdicts.at(0);
  };
  EXPECT_EQ(found().outcome, Outcome::inconclusive);
  EXPECT_THAT(found().reason, HasSubstr("--leak-iterations"));
  verdict.subjects[0].leak = LeakEstimate{.verdict = LeakVerdict::leak,
                                          .bytes_per_iteration = 4096,
                                          .interval = Interval{4000, 4200},
                                          .reason = "it grows"};
  EXPECT_EQ(found().outcome, Outcome::fail);
  EXPECT_EQ(found().value, 4096);
  EXPECT_EQ(found().reason, "it grows");
  verdict.subjects[0].leak->verdict = LeakVerdict::no_leak;
  EXPECT_EQ(found().outcome, Outcome::pass);
  verdict.subjects[0].leak->verdict = LeakVerdict::cannot_tell;
  EXPECT_EQ(found().outcome, Outcome::inconclusive);
}

TEST(Gate, AProcessThatDiedLookingForALeakIsNoPass) {
  RunRecord record = run_of({"a"}, {{0.01, 0.01}});
  record.finished = true;
  Samples dead = record.trials.front();
  dead.purpose = Purpose::leak;
  dead.end = TrialEnd::out_of_memory;
  dead.message = "out of memory: 2.1 GB, and the limit is 2 GB";
  record.side_trials.push_back(dead);
  const Verdict verdict = judge(record);
  EXPECT_EQ(verdict.exit_code, 4);
  const GateVerdict judged = judge_gate(gate_of({"no leak"}), {.run = record, .verdict = verdict});
  EXPECT_EQ(judged.verdicts.at(0).outcome, Outcome::inconclusive);
  EXPECT_THAT(judged.verdicts.at(0).reason, HasSubstr("did not end well: out of memory: 2.1 GB"));
  EXPECT_EQ(judged.exit_code, 4);
}

std::string check_error(const Gate& gate, const Plan& plan, bool has_baseline = false) {
  const auto checked = check_gate(gate, plan, has_baseline);
  return checked ? "no error" : checked.error().message;
}

TEST(Gate, KnowsBeforeItRunsWhatCannotBeJudged) {
  Plan plan = run_of({"resnet50@onnxruntime", "resnet50@openvino"}, {{1}, {1}}).plan;
  EXPECT_EQ(check_error(gate_of({"speedup >= 3", "outputs agree"}), plan), "no error");
  EXPECT_EQ(check_error(gate_of({"latency_p50_ms <= 3"}, "resnet50@openvin"), plan),
            "gate.toml:2:9: no subject is called 'resnet50@openvin' (did you mean 'resnet50@openvino'?)");
  EXPECT_THAT(check_error(gate_of({"speedup >= 3"}, "resnet50@onnxruntime"), plan),
              HasSubstr("gate.toml:2:9: 'resnet50@onnxruntime' is the baseline"));
  EXPECT_THAT(check_error(gate_of({"regression <= 10%"}), plan),
              HasSubstr("gate.toml:1:1: a regression is against a baseline"));
  EXPECT_EQ(check_error(gate_of({"regression <= 10%"}), plan, true), "no error");
  plan.question = Question{};
  EXPECT_EQ(check_error(gate_of({"regression <= 10%"}), plan), "no error");
  plan.subjects.pop_back();
  EXPECT_THAT(check_error(gate_of({"outputs agree"}), plan),
              HasSubstr("gate.toml:1:1: this is about a subject and the first"));
}

TEST(Gate, EverySubjectIsJudgedThatCanBe) {
  const RunRecord record = run_of({"a", "b", "c"}, {{0.01, 0.01}, {0.01, 0.01}, {0.01, 0.01}});
  EXPECT_EQ(judged("latency_p50_ms <= 20", record).passed, 3);
  EXPECT_EQ(judged("speedup >= 0.5", record).verdicts.size(), 2U);
  const Verdict verdict = judge(record);
  const GateVerdict one = judge_gate(gate_of({"latency_p50_ms <= 20"}, "b"), {.run = record, .verdict = verdict});
  ASSERT_EQ(one.verdicts.size(), 1U);
  EXPECT_EQ(one.verdicts[0].subject, 1);
}

TEST(Gate, ExitCodesNameWhatToLookAtFirst) {
  RunRecord record = run_of({"a", "b"}, {{0.01, 0.01}, {0.02, 0.02}});
  EXPECT_EQ(judged("latency_p50_ms <= 30", record).exit_code, 0);
  EXPECT_EQ(judged("latency_p50_ms <= 15", record).exit_code, 1);
  const Verdict verdict = judge(record);
  Gate gate = gate_of({"compilation_time_ms <= 1"});
  EXPECT_EQ(judge_gate(gate, {.run = record, .verdict = verdict}).exit_code, 0);
  gate.fail_inconclusive = true;
  EXPECT_EQ(judge_gate(gate, {.run = record, .verdict = verdict}).exit_code, 5);
  gate.expectations.push_back(gate_of({"latency_p50_ms <= 15"}).expectations[0]);
  EXPECT_EQ(judge_gate(gate, {.run = record, .verdict = verdict}).exit_code, 1);
  record.trials.back().end = TrialEnd::load_failed;
  EXPECT_EQ(judged("latency_p50_ms <= 15", record).exit_code, 3);
  record.trials.back().usage = true;
  EXPECT_EQ(judged("latency_p50_ms <= 15", record).exit_code, 2);
  record.finished = false;
  EXPECT_EQ(judged("latency_p50_ms <= 15", record).exit_code, 130);
}

TEST(Gate, SubjectsThatNobodyAskedAboutDoNotMatter) {
  RunRecord record = run_of({"a", "b"}, {{0.01, 0.01}, {0.02, 0.02}});
  record.trials.front().end = TrialEnd::crashed;
  const Verdict verdict = judge(record);
  const auto code = [&](const char* expectation) {
    return judge_gate(gate_of({expectation}, "b"), {.run = record, .verdict = verdict}).exit_code;
  };
  EXPECT_EQ(code("latency_p50_ms <= 30"), 0);
  EXPECT_EQ(code("speedup >= 0.1"), 4);  // a is what b is compared with
}

}  // namespace
}  // namespace infermeter::gate_test
