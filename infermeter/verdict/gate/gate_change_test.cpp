// Speed-ups, regressions, repetitions: expectations of more than one subject or run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "infermeter/stats/comparison/design_power.hpp"
#include "infermeter/verdict/gate/test_gates.hpp"

namespace infermeter::gate_change_test {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(GateOfChanges, SpeedUpIsTheRatioToTheFirstOfTheGroup) {
  const RunRecord record = run_of({"a", "b"}, {{0.030, 0.0303, 0.0297}, {0.010, 0.0101, 0.0099}});
  const ExpectationVerdict found = last("speedup >= 2.5", record);
  EXPECT_EQ(found.outcome, Outcome::pass);
  EXPECT_NEAR(*found.value, 3, 1e-9);
  EXPECT_LT(found.interval->low, 3);
  EXPECT_GT(found.interval->high, 3);
  EXPECT_EQ(found.processes, 6);
  EXPECT_EQ(last("speedup >= 3", record).outcome, Outcome::inconclusive);
  EXPECT_EQ(last("speedup >= 4", record).outcome, Outcome::fail);
  EXPECT_EQ(last("speedup(throughput) >= 2.5", record).outcome, Outcome::pass);
  EXPECT_THAT(last("speedup >= 2", run_of({"a", "b"}, {{0.03}, {0.01}})).reason, HasSubstr("(--processes 3)"));
}

// As `compare` leaves it: b is `estimate` worse on the log scale, with this interval.
Verdict with_pairs(const RunRecord& record, double estimate, double low, double high) {
  Verdict verdict = judge(record);
  PairedComparison pairs;
  pairs.candidate = 1;
  pairs.metric = "latency_p50";
  pairs.differences.assign(16, estimate);
  pairs.estimate = estimate;
  pairs.interval = Interval{low, high};
  verdict.comparison = ComparisonVerdict{};
  verdict.comparison->primary = {pairs};
  return verdict;
}

ExpectationVerdict paired(const std::string& expectation, const Verdict& verdict, const RunRecord& record) {
  return judge_gate(gate_of({expectation}), {.run = record, .verdict = verdict}).verdicts.at(0);
}

TEST(GateOfChanges, PairsOfAComparisonBeatTheUnpairedRatio) {
  const RunRecord record = run_of({"a", "b"}, {{0.03, 0.03}, {0.01, 0.01}});  // a ratio of 3
  const Verdict verdict = with_pairs(record, std::log(1.05), std::log(1.04), std::log(1.08));
  const ExpectationVerdict regression = paired("regression <= 8.1%", verdict, record);
  EXPECT_EQ(regression.outcome, Outcome::pass);
  EXPECT_NEAR(*regression.value, 0.05, 1e-12);
  EXPECT_NEAR(regression.interval->high, 0.08, 1e-12);
  EXPECT_EQ(regression.n, 16);
  EXPECT_EQ(regression.processes, 32);
  EXPECT_EQ(paired("regression <= 6%", verdict, record).outcome, Outcome::inconclusive);
  EXPECT_THAT(paired("regression <= 6%", verdict, record).reason,
              HasSubstr("about 144 pairs would settle it (--all-pairs --max-pairs 144)"));
  EXPECT_EQ(paired("regression <= 3%", verdict, record).outcome, Outcome::fail);
  const ExpectationVerdict speedup = paired("speedup >= 1", verdict, record);
  EXPECT_EQ(speedup.outcome, Outcome::fail);
  EXPECT_NEAR(*speedup.value, 1 / 1.05, 1e-12);
  EXPECT_NEAR(speedup.interval->low, 1 / 1.08, 1e-12);
}

// The coin makes the test of pairs valid, whether or not times settle.
TEST(GateOfChanges, OfPairsWithoutASteadyStateAreDecidedAllTheSame) {
  const RunRecord record = run_of({"a", "b"}, {{0.03, 0.03}, {0.01, 0.01}});
  Verdict verdict = with_pairs(record, 0, -0.01, 0.01);
  verdict.comparison->steady = false;
  EXPECT_EQ(paired("regression <= 10%", verdict, record).outcome, Outcome::pass);
  verdict.comparison->primary[0].interval.reset();
  EXPECT_EQ(paired("regression <= 10%", verdict, record).reason, "16 pairs are too few for an interval");
}

TEST(GateOfChanges, AskForAsManyPairsAsTheComparisonDoes) {
  RunRecord record = run_of({"a", "b"}, {{0.03, 0.03}, {0.03, 0.03}});
  record.plan.question.emplace();
  record.plan.processes = 40;
  Verdict verdict = with_pairs(record, 0.002, -0.012, 0.016);
  verdict.comparison->primary[0].spread = 0.02;
  const int wanted = *pairs_needed(design_of(record.plan), 16, (std::log1p(0.01) - 0.002) / 0.02);
  EXPECT_THAT(paired("no regression beyond 1%", verdict, record).reason,
              HasSubstr(fmt::format("about {} pairs would settle it", wanted)));
}

// Unchanged code on a machine that had other work: both runs carry it, and a difference between them is no regression.
TEST(GateOfChanges, ADisturbedMachineFailsNothingAcrossRuns) {
  RunRecord baseline = run_of({"a"}, {{0.0100, 0.0101, 0.0099}});
  baseline.id = "earlier";
  RunRecord slower = run_of({"a"}, {{0.0170, 0.0172, 0.0168}});
  EXPECT_EQ(last("regression <= 10%", slower, &baseline).outcome, Outcome::fail);
  for (RunRecord* disturbed : {&baseline, &slower}) {
    Samples& trial = disturbed->trials[1];
    trial.noise.foreign_cpu = 0.8;
    trial.diagnostics.push_back({DiagnosticId::foreign_load, "other programs used 80 % of a processor", {}});
    const ExpectationVerdict found = last("regression <= 10%", slower, &baseline);
    EXPECT_EQ(found.outcome, Outcome::inconclusive);
    EXPECT_THAT(found.reason, HasSubstr("the machine was disturbed"));
    EXPECT_THAT(found.notes, testing::Contains(HasSubstr("other programs used 80 % of a processor")));
  }
  EXPECT_THAT(last("regression <= 10%", slower, &baseline).notes,
              ElementsAre(HasSubstr("the baseline 'nightly': in 1 of 3"), HasSubstr("this run: in 1 of 3")));
  // What passes passes, and memory does not depend on it.
  EXPECT_EQ(last("regression <= 150%", slower, &baseline).outcome, Outcome::pass);
  EXPECT_THAT(last("regression(peak_memory) <= 1%", slower, &baseline).notes, testing::IsEmpty());
  for (RunRecord* run : {&baseline, &slower}) {
    for (Samples& trial : run->trials) trial.memory.device_peak = 1000;
  }
  EXPECT_THAT(last("regression(device_memory_peak) <= 1%", slower, &baseline).notes, testing::IsEmpty());
}

// Fail if low > 0 and high >= margin; pass if high < margin; else inconclusive.
TEST(GateOfChanges, AMarginFailsWhatIsCertainlyWorseAndPerhapsByMore) {
  const RunRecord record = run_of({"a", "b"}, {{0.03, 0.03}, {0.03, 0.03}});
  const auto outcome = [&](double low, double high) {
    return paired("no regression beyond 2%", with_pairs(record, (low + high) / 2, std::log1p(low), std::log1p(high)),
                  record)
        .outcome;
  };
  EXPECT_EQ(outcome(0.005, 0.015), Outcome::pass);  // certain, but too small to matter
  EXPECT_EQ(outcome(-0.03, -0.01), Outcome::pass);
  EXPECT_EQ(outcome(0.005, 0.03), Outcome::fail);  // `regression <= 2%` could not tell
  EXPECT_EQ(outcome(0.03, 0.05), Outcome::fail);
  EXPECT_EQ(outcome(-0.005, 0.03), Outcome::inconclusive);
  EXPECT_EQ(outcome(0, 0.03), Outcome::inconclusive);
}

TEST(GateOfChanges, RegressionIsByHowMuchOfTheBaselineItGotWorse) {
  const RunRecord baseline = [] {
    RunRecord record = run_of({"a"}, {{0.0100, 0.0101, 0.0099}});
    record.id = "earlier";
    return record;
  }();
  const RunRecord slower = run_of({"a"}, {{0.0200, 0.0202, 0.0198}});
  const ExpectationVerdict time = last("regression <= 90%", slower, &baseline);
  EXPECT_NEAR(*time.value, 1, 1e-9);  // twice the time is 100 % worse
  EXPECT_EQ(time.outcome, Outcome::fail);
  EXPECT_EQ(last("regression <= 150%", slower, &baseline).outcome, Outcome::pass);
  EXPECT_EQ(last("regression <= 100%", slower, &baseline).outcome, Outcome::inconclusive);
  EXPECT_NEAR(*last("regression(throughput) <= 60%", slower, &baseline).value, 0.5, 1e-9);  // half as many a second
  EXPECT_NEAR(*last("regression(throughput) <= 60%", baseline, &slower).value, -1, 1e-9);
  EXPECT_EQ(last("regression(peak_memory) <= 1%", slower, &baseline).outcome, Outcome::pass);
  const GateVerdict verdict = judged("regression <= 90%", slower, &baseline);
  EXPECT_EQ(verdict.baseline_name, "nightly");
  EXPECT_EQ(verdict.baseline_run, "earlier");
}

TEST(GateOfChanges, ABaselineThatIsNotLikeForLikeTellsNothing) {
  const RunRecord run = run_of({"a"}, {{0.01, 0.01}});
  const auto against = [&](auto change) {
    RunRecord baseline = run;
    baseline.id = "earlier";
    change(baseline);
    return last("regression <= 10%", run, &baseline);
  };
  EXPECT_EQ(against([](RunRecord&) {}).outcome, Outcome::pass);
  const ExpectationVerdict machine = against([](RunRecord& b) { b.environment.processor = "that"; });
  EXPECT_EQ(machine.outcome, Outcome::inconclusive);
  EXPECT_TRUE(machine.value);
  EXPECT_EQ(machine.reason, "not like for like: 'nightly' was measured on another machine (that, here this)");
  EXPECT_EQ(against([](RunRecord& b) {
              for (Samples& samples : b.trials) samples.executed[0].second = "bfloat16";
            }).reason,
            "not like for like: executed in float32, but bfloat16 for 'nightly'");
  EXPECT_THAT(against([](RunRecord& b) {
                for (Samples& samples : b.trials) samples.executed[1].second = "8";
              }).reason,
              HasSubstr("threads: 2, but 8"));
  EXPECT_THAT(against([](RunRecord& b) { b.plan.subjects[0].batch_size = 4; }).reason,
              HasSubstr("batch size 1, but 4"));
  EXPECT_THAT(against([](RunRecord& b) {
                for (Samples& samples : b.trials) samples.input_digest = 8;
              }).reason,
              HasSubstr("input bytes"));
  EXPECT_EQ(against([](RunRecord& b) {
              b.plan.subjects[0].label = "c";
              b.plan.subjects[0].backend = "openvino";
            }).reason,
            "the baseline 'nightly' has no such subject");
  EXPECT_EQ(last("regression <= 10%", run, &run).reason, "the baseline 'nightly' is this run itself");
}

// What is measured may be another; that is what a regression is looked for in.
TEST(GateOfChanges, ANewModelOrRuntimeIsJudgedAndTold) {
  const RunRecord run = run_of({"a"}, {{0.01, 0.01}});
  RunRecord baseline = run;
  baseline.id = "earlier";
  baseline.models[0].sha256 = "bb";
  for (Samples& samples : baseline.trials) samples.executed[3].second = "1.30";
  const ExpectationVerdict found = last("regression <= 10%", run, &baseline);
  EXPECT_EQ(found.outcome, Outcome::pass);
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("1.31.1, but 1.30 for 'nightly'"), HasSubstr("the contents of mlp")));
}

TEST(GateOfChanges, FindsARelabelledSubjectByItsSeries) {
  const RunRecord run = run_of({"a"}, {{0.01, 0.01}});
  RunRecord baseline = run;
  baseline.id = "earlier";
  baseline.plan.subjects[0].label = "old name";
  EXPECT_EQ(last("regression <= 10%", run, &baseline).outcome, Outcome::pass);
  baseline.plan.subjects.push_back(baseline.plan.subjects[0]);  // which of the two?
  EXPECT_EQ(last("regression <= 10%", run, &baseline).outcome, Outcome::inconclusive);
}

std::vector<RunRecord> repeated(const std::vector<double>& levels) {
  std::vector<RunRecord> runs;
  for (const double level : levels) {
    runs.push_back(run_of({"a"}, {{0.01 * level, 0.01001 * level, 0.00999 * level}}));
    runs.back().id = "run " + std::to_string(runs.size());
  }
  return runs;
}

ExpectationVerdict reproducible(const std::vector<RunRecord>& runs, const std::string& expectation) {
  const Verdict verdict = judge(runs.front());
  return judge_gate(gate_of({expectation}),
                    {.run = runs.front(), .verdict = verdict, .earlier = std::span(runs).subspan(1)})
      .verdicts.at(0);
}

TEST(GateOfChanges, RunsAreReproducibleIfAllLieWithinTheMargin) {
  const std::string expectation = "reproducible over 3 runs within 2%";
  const ExpectationVerdict same = reproducible(repeated({1, 1.001, 0.999}), expectation);
  EXPECT_EQ(same.outcome, Outcome::pass);
  EXPECT_EQ(same.n, 3);
  EXPECT_EQ(same.processes, 9);
  const ExpectationVerdict apart = reproducible(repeated({1, 1.1, 1}), expectation);
  EXPECT_EQ(apart.outcome, Outcome::fail);
  EXPECT_NEAR(*apart.value, std::exp(2 * std::log(1.1) / 3) - 1, 1e-9);
  EXPECT_EQ(apart.reason, "the whole interval of run run 2 lies beyond the margin");
  EXPECT_EQ(reproducible(repeated({1, 1.03, 1}), expectation).outcome, Outcome::inconclusive);
}

TEST(GateOfChanges, OnlyRepetitionsCountAsRuns) {
  const std::string expectation = "reproducible over 3 runs within 2%";
  auto runs = repeated({1, 1, 1, 1, 1.5});
  runs[1].environment.processor = "that";
  runs[2].models[0].sha256 = "bb";
  EXPECT_EQ(reproducible(runs, expectation).outcome, Outcome::fail);  // the last one is the third
  runs.pop_back();
  const ExpectationVerdict few = reproducible(runs, expectation);
  EXPECT_EQ(few.outcome, Outcome::inconclusive);
  EXPECT_EQ(few.reason, "needs 3 finished runs of the same subject under the same conditions, and there are 2");
  EXPECT_EQ(runs_wanted(gate_of({expectation, "outputs agree"})), 3);
  EXPECT_EQ(runs_wanted(gate_of({"outputs agree"})), 1);
}

}  // namespace
}  // namespace infermeter::gate_change_test
