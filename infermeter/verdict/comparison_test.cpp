#include "infermeter/verdict/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/test_pairs.hpp"

namespace infermeter::comparison_test {
namespace {

using test::add_pairs;
using test::record_with_question;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Comparison, IsSilentWithoutAQuestion) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 10, {0, 0});
  record.plan.question.reset();
  EXPECT_FALSE(judge_comparison(record, true));
}

TEST(Comparison, FindsASlowdownAtTheFirstLook) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 16, {0, std::log(1.03)});
  const auto verdict = judge_comparison(record, false);
  ASSERT_TRUE(verdict);
  ASSERT_EQ(verdict->primary.size(), 1U);
  const PairedComparison& found = verdict->primary[0];
  EXPECT_EQ(found.direction, Direction::slower);
  EXPECT_TRUE(verdict->resolved);
  EXPECT_NEAR(*found.estimate, std::log(1.03), 0.002);
  ASSERT_TRUE(found.interval);
  EXPECT_GT(found.interval->low, 0);
  EXPECT_EQ(verdict->looks[0].back().pairs, 8);
  EXPECT_FALSE(found.more_pairs);
}

TEST(Comparison, CannotSpeakBeforeTheFirstLook) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 7, {0, std::log(1.03)});
  const auto verdict = judge_comparison(record, false);
  EXPECT_EQ(verdict->primary[0].direction, Direction::unresolved);
  EXPECT_FALSE(verdict->resolved);
  ASSERT_TRUE(verdict->next);
  EXPECT_EQ(verdict->next->pairs, 8);
  EXPECT_LT(*verdict->next->smallest_effect, std::log(1.03));
}

TEST(Comparison, KnowsWhichOfAPairRanFirst) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 3, {0, 0});
  const auto order = judge_comparison(record, false)->primary[0].order;
  for (std::size_t pair = 0; pair < 3; ++pair) {
    const bool second = record.trials[2 * pair + 1].position > record.trials[2 * pair].position;
    EXPECT_EQ(order.at(pair), second ? 1 : -1);
  }
  std::swap(record.trials[2].position, record.trials[3].position);
  EXPECT_THAT(judge_comparison(record, false)->primary[0].order, testing::ElementsAre(order[0], -order[1], order[2]));
}

// One report, one answer: the table's ratio is that of the pairs.
TEST(Comparison, GivesTheTableItsRatio) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 16, {0, std::log(1.03)});
  record.finished = true;
  const Verdict verdict = judge(record);
  const auto& ratios = verdict.subjects[1].ratios;
  const auto ratio = std::ranges::find(ratios, "latency_p50", &Ratio::metric);
  ASSERT_NE(ratio, ratios.end());
  EXPECT_DOUBLE_EQ(*ratio->estimate.value, std::exp(-*verdict.comparison->primary[0].estimate));
  EXPECT_DOUBLE_EQ(ratio->estimate.interval->low, std::exp(-verdict.comparison->primary[0].interval->high));
  const auto throughput = std::ranges::find(ratios, "throughput", &Ratio::metric);
  const auto explored = std::ranges::find(verdict.comparison->exploratory, "throughput", &PairedComparison::metric);
  EXPECT_DOUBLE_EQ(*throughput->estimate.value, std::exp(-*explored->estimate));
}

TEST(Comparison, TurnsSoThatPositiveIsWorse) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 16, {0, std::log(1.03)});
  record.plan.question->metric = "throughput";
  const auto verdict = judge_comparison(record, true);
  EXPECT_EQ(verdict->primary[0].direction, Direction::slower);
  EXPECT_NEAR(*verdict->primary[0].estimate, std::log(1.03), 0.002);
}

TEST(Comparison, CallsEqualWhatLiesWithinTheMargin) {
  RunRecord record = record_with_question(2);
  record.plan.question->margin = 0.01;
  add_pairs(record, 40, {0, 0});
  const auto verdict = judge_comparison(record, true);
  EXPECT_EQ(verdict->primary[0].direction, Direction::equivalent);
}

TEST(Comparison, LeavesOutPairsThatAreNotWhole) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 20, {0, std::log(1.03)});
  record.trials[5].end = TrialEnd::crashed;  // of pair 2
  const auto verdict = judge_comparison(record, true);
  EXPECT_EQ(verdict->primary[0].differences.size(), 19U);
  EXPECT_EQ(verdict->primary[0].incomplete, 1);
}

TEST(Comparison, DropsDisturbedPairsOnlyIfAsked) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 20, {0, std::log(1.03)});
  record.trials[4].noise.steal = 0.021;
  record.trials[9].noise.foreign_cpu = 0.49;  // below the limit
  EXPECT_EQ(judge_comparison(record, true)->primary[0].differences.size(), 20U);
  record.plan.question->drop_disturbed = true;
  const auto verdict = judge_comparison(record, true);
  EXPECT_EQ(verdict->primary[0].differences.size(), 19U);
  EXPECT_EQ(verdict->primary[0].dropped, 1);
}

TEST(Comparison, DecidesWithoutASteadyStateAndSaysSo) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 40, {0, std::log(1.1)});
  record.plan.automatic.warmup = true;
  std::vector<double> times;  // a step in the last quarter
  for (int i = 0; i < 2000; ++i) times.push_back((i < 1700 ? 0.01 : 0.02) * (1 + 0.002 * test::scattered(i)));
  record.side_trials.push_back(test::trial_with(0, 0, times));
  record.side_trials.back().purpose = Purpose::pilot;
  const auto verdict = judge_comparison(record, true);
  EXPECT_FALSE(verdict->steady);
  EXPECT_TRUE(verdict->resolved);
  EXPECT_EQ(verdict->primary[0].direction, Direction::slower);
  const auto diagnostics = judge(record).diagnostics;
  const auto said = std::ranges::find(diagnostics, DiagnosticId::no_steady_state, &Diagnostic::id);
  ASSERT_NE(said, diagnostics.end());
  EXPECT_THAT(said->message, AllOf(HasSubstr("kept changing"), HasSubstr("as many in both processes of each pair")));
}

TEST(Comparison, GivesUpWhenNoPairIsWhole) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 3, {0, 0});
  for (Samples& trial : record.trials) {
    if (trial.subject == 1) trial.end = TrialEnd::run_failed;
  }
  EXPECT_TRUE(judge_comparison(record, false)->hopeless);
}

TEST(Comparison, HasNoPairOfPercentilesThatAProcessCannotTell) {
  RunRecord record = record_with_question(2);
  record.plan.question->metric = "latency_p90";
  add_pairs(record, 3, {0, 0});  // four iterations each
  const Verdict verdict = judge(record);
  EXPECT_TRUE(verdict.comparison->hopeless);
  const auto said = std::ranges::find(verdict.diagnostics, DiagnosticId::pairs_incomplete, &Diagnostic::id);
  ASSERT_NE(said, verdict.diagnostics.end());
  EXPECT_THAT(said->message, HasSubstr("a process needs 29 iterations for its own"));
}

TEST(Comparison, OfAPercentileOfALoadRefusesTooFewRequests) {
  RunRecord record = record_with_question(2);
  record.plan.question->metric = "response_p99";
  for (Subject& subject : record.plan.subjects) subject.load = {{"rate", "100"}};
  record.plan.stopping.iterations = 661;
  EXPECT_EQ(metric_of_question(record.plan).error().message,
            "response_p99 needs 662 requests in each process, and 661 are asked for: --requests 662, or a longer "
            "--duration");
  record.plan.stopping.iterations = 662;
  EXPECT_TRUE(metric_of_question(record.plan).ok());
  record.plan.stopping = {.iterations = {}, .duration_s = 10};
  EXPECT_TRUE(metric_of_question(record.plan).ok());
}

TEST(Comparison, OfAPercentileRefusesTooFewIterations) {
  RunRecord record = record_with_question(2);
  record.plan.question->metric = "p99";
  record.plan.stopping.iterations = 100;
  EXPECT_EQ(metric_of_question(record.plan).error().message,
            "a process needs 299 iterations for a p99 of its own, by which pairs are compared, and 100 are asked for: "
            "--iterations 299, or leave it out");
  record.plan.stopping.iterations = 299;
  EXPECT_EQ(*metric_of_question(record.plan), "latency_p99");
  record.plan.stopping.iterations = 100;
  record.plan.automatic.iterations = true;
  EXPECT_TRUE(metric_of_question(record.plan).ok());
}

TEST(Comparison, JudgesSeveralCandidatesAgainstTheFirst) {
  RunRecord record = record_with_question(3);
  add_pairs(record, 24, {0, std::log(1.05), std::log(0.95)});
  const auto verdict = judge_comparison(record, true);
  ASSERT_EQ(verdict->primary.size(), 2U);
  EXPECT_EQ(verdict->primary[0].direction, Direction::slower);
  EXPECT_EQ(verdict->primary[1].direction, Direction::faster);
}

// One candidate is resolved by a look, and pairs go on for the other: what is said of it is of the pairs of its look.
TEST(Comparison, CountsThePairsOfTheLookThatDecided) {
  RunRecord record = record_with_question(3);
  add_pairs(record, 24, {0, std::log(1.05), 0});
  record.finished = true;
  const Verdict verdict = judge(record);
  const PairedComparison& decided = verdict.comparison->primary[0];
  const Look& look = verdict.comparison->looks[0].back();
  ASSERT_EQ(decided.direction, Direction::slower);
  ASSERT_LT(look.pairs, 24);
  EXPECT_EQ(decided.differences.size(), 24U);
  EXPECT_EQ(decided.pairs(), look.pairs);
  const auto ratio = std::ranges::find(verdict.subjects[1].ratios, "latency_p50", &Ratio::metric);
  EXPECT_EQ(ratio->estimate.n, look.pairs);
  const auto answer = std::ranges::find_if(verdict.answers, [](const Answer& one) {
    return one.topic == AnswerTopic::speed && one.subjects == std::vector{1};
  });
  ASSERT_NE(answer, verdict.answers.end());
  EXPECT_EQ(answer->n, look.pairs);
}

TEST(Comparison, AdjustsExploratoryMetricsForTheirNumber) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 24, {0, std::log(1.03)});
  const auto verdict = judge_comparison(record, true);
  const auto mean = std::ranges::find(verdict->exploratory, "latency_mean", &PairedComparison::metric);
  ASSERT_NE(mean, verdict->exploratory.end());
  EXPECT_LT(mean->p, 0.01);
  EXPECT_EQ(mean->direction, Direction::slower);
  const auto memory = std::ranges::find(verdict->exploratory, "memory_peak", &PairedComparison::metric);
  ASSERT_NE(memory, verdict->exploratory.end());
  EXPECT_EQ(memory->p, 1);
  EXPECT_EQ(memory->direction, Direction::equivalent);
  EXPECT_EQ(std::ranges::find(verdict->exploratory, "latency_p50", &PairedComparison::metric),
            verdict->exploratory.end());
}

TEST(Comparison, ExploratoryMetricsAreEqualWithinTheMarginAndElseUnresolved) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 24, {0, std::log(1.004)});
  const auto direction_of_mean = [&](double margin, double alpha) {
    record.plan.question->margin = margin;
    record.plan.question->alpha = alpha;
    const auto verdict = judge_comparison(record, true);
    return std::ranges::find(verdict->exploratory, "latency_mean", &PairedComparison::metric)->direction;
  };
  EXPECT_EQ(direction_of_mean(0.02, 1e-6), Direction::equivalent);
  EXPECT_EQ(direction_of_mean(0.0001, 1e-6), Direction::unresolved);
}

TEST(Comparison, SaysHowManyMorePairsItWouldTake) {
  RunRecord record = record_with_question(2, 8);
  record.plan.question->margin = 0.0005;
  add_pairs(record, 8, {0, std::log(1.0002)});
  const auto verdict = judge_comparison(record, true);
  ASSERT_EQ(verdict->primary[0].direction, Direction::unresolved);
  ASSERT_TRUE(verdict->primary[0].more_pairs);
  EXPECT_GT(*verdict->primary[0].more_pairs, 0);
  EXPECT_GT(*verdict->primary[0].minimum_effect, verdict->primary[0].spread) << "of eight pairs";
}

TEST(Comparison, KnowsMetricsByTheirShortNames) {
  EXPECT_EQ(*metric_from_string("p50"), "latency_p50");
  EXPECT_EQ(*metric_from_string("peak_memory"), "memory_peak");
  EXPECT_EQ(*metric_from_string("compile_time"), "compile_time");
  EXPECT_THAT(metric_from_string("througput").error().message, HasSubstr("did you mean 'throughput'?"));
  EXPECT_FALSE(metric_from_string("latency_max").ok());  // no value per process
}

TEST(Comparison, RefusesInputsOfOtherShapes) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 1, {0, 0});
  EXPECT_TRUE(check_comparable(record).ok());
  record.trials[1].executed = {{"input_shape", "(2, 4)"}};
  const auto refused = check_comparable(record);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("(1, 4)"));
}

std::vector<DiagnosticId> ids_of(const RunRecord& record) {
  std::vector<DiagnosticId> ids;
  for (const Diagnostic& diagnostic : judge(record).diagnostics) ids.push_back(diagnostic.id);
  return ids;
}

TEST(Comparison, TellsWhatPairsLack) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 20, {0, 0.03});
  record.finished = true;
  record.trials[4].noise.throttled_s = 0.5;
  record.trials[6].end = TrialEnd::crashed;
  record.plan.question->drop_disturbed = true;
  EXPECT_THAT(ids_of(record), testing::IsSupersetOf({DiagnosticId::pairs_incomplete, DiagnosticId::pairs_dropped}));
}

TEST(Comparison, TellsThatTheMarginIsOutOfReach) {
  RunRecord record = record_with_question(2);
  record.plan.automatic = {.warmup = true, .iterations = true};
  record.plan.question->margin = 0.001;
  add_pairs(record, 8, {0, 0});
  record.finished = true;
  for (int process = 0; process < 5; ++process) {
    for (int subject = 0; subject < 2; ++subject) {
      std::vector<double> times;
      const double level = 0.01 * (1 + 0.1 * test::scattered(process * 2 + subject));
      for (int i = 0; i < 200; ++i) times.push_back(level * (1 + 0.002 * test::scattered(i)));
      record.side_trials.push_back(test::trial_with(subject, process, times));
      record.side_trials.back().purpose = Purpose::pilot;
    }
  }
  EXPECT_THAT(ids_of(record), testing::Contains(DiagnosticId::margin_out_of_reach));
}

TEST(Comparison, TellsThatTwoIntervalsDisagree) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 16, {0, 0.01});
  record.finished = true;
  for (std::size_t i = 1; i < 6; i += 4) {  // two pairs that went wrong by far
    Samples& trial = record.trials[i];
    for (double& end : trial.end_s) end += 0.5;
  }
  EXPECT_THAT(ids_of(record), testing::Contains(DiagnosticId::skewed_differences));
}

TEST(Comparison, TellsThatAPilotFailed) {
  RunRecord record = record_with_question(2);
  add_pairs(record, 8, {0, 0});
  record.side_trials.push_back(test::trial_with(1, 0, {}));
  record.side_trials.back().purpose = Purpose::pilot;
  record.side_trials.back().end = TrialEnd::crashed;
  EXPECT_THAT(ids_of(record), testing::Contains(DiagnosticId::pilot_failed));
}

Samples leak_trial(double bytes_per_iteration) {
  Samples trial = test::trial_with(0, 0, std::vector<double>(2000, 0.001));
  trial.purpose = Purpose::leak;
  for (int i = 0; i < 2000; ++i) {
    const double pages = std::floor((50e6 + bytes_per_iteration * i) / 4096);
    trial.memory_bytes.push_back(4096 * pages);
  }
  return trial;
}

TEST(Leaks, AreToldByTheLeakTrial) {
  RunRecord record = record_with_question(1);
  record.plan.question.reset();
  record.side_trials = {leak_trial(10'000)};
  const Verdict leaking = judge(record);
  ASSERT_TRUE(leaking.subjects[0].leak);
  EXPECT_EQ(leaking.subjects[0].leak->verdict, LeakVerdict::leak);
  EXPECT_NEAR(leaking.subjects[0].leak->bytes_per_iteration, 10'000, 100);
  EXPECT_THAT(ids_of(record), testing::Contains(DiagnosticId::memory_leak));
  record.side_trials = {leak_trial(0)};
  EXPECT_EQ(judge(record).subjects[0].leak->verdict, LeakVerdict::no_leak);
}

TEST(Leaks, CannotBeToldByATrialThatFailed) {
  RunRecord record = record_with_question(1);
  record.plan.question.reset();
  record.side_trials = {leak_trial(0)};
  record.side_trials[0].end = TrialEnd::crashed;
  record.side_trials[0].memory_bytes.clear();
  EXPECT_THAT(ids_of(record), testing::Contains(DiagnosticId::leak_unclear));
}

}  // namespace
}  // namespace infermeter::comparison_test
