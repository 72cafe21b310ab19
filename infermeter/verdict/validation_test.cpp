#include "infermeter/verdict/validation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace infermeter::validation_test {
namespace {

AccuracyDrop drop(std::uint64_t both, std::uint64_t lost, std::uint64_t won, std::optional<double> allowed) {
  AccuracyDrop accuracy;
  accuracy.baseline.labels = LabelAccuracy{.rows = both + lost + won, .top1 = both + lost, .top5 = {}, .classes = {}};
  accuracy.candidate.labels = LabelAccuracy{.rows = both + lost + won, .top1 = both + won, .top5 = {}, .classes = {}};
  accuracy.paired = PairedRight{.both = both, .reference_only = lost, .candidate_only = won, .neither = 0};
  accuracy.allowed = allowed;
  judge_labels(accuracy);
  return accuracy;
}

// Judged by the whole interval, never by the share alone.
TEST(Validation, ADropIsJudgedByItsWholeInterval) {
  EXPECT_EQ(outcome_of(drop(1000, 0, 0, 0.01)), Outcome::pass);
  EXPECT_EQ(outcome_of(drop(900, 100, 0, 0.01)), Outcome::fail);
  EXPECT_EQ(outcome_of(drop(97, 3, 0, 0.01)), Outcome::inconclusive);  // a drop of 3 %, of 100 rows only
  EXPECT_EQ(outcome_of(drop(20, 0, 0, 0.01)), Outcome::inconclusive);  // no drop at all, of 20 rows only
  EXPECT_EQ(outcome_of(drop(900, 100, 0, std::nullopt)), std::nullopt);
  EXPECT_LT(drop(900, 100, 0, 0.01).change->difference, 0);
}

TEST(Validation, MasksAreJudgedOverImages) {
  AccuracyDrop accuracy;
  accuracy.allowed = 0.05;
  judge_items(accuracy, {0.9}, {0.9});
  EXPECT_EQ(outcome_of(accuracy), Outcome::inconclusive);  // one image has no spread
  // scipy.stats.t.interval(0.95, 3, loc=-0.1, scale=scipy.stats.sem([-0.1, -0.11, -0.09, -0.1]))
  judge_items(accuracy, {0.9, 0.9, 0.9, 0.9}, {0.8, 0.79, 0.81, 0.8});
  EXPECT_NEAR(accuracy.change->interval.low, -0.11299, 1e-5);
  EXPECT_NEAR(accuracy.change->interval.high, -0.08701, 1e-5);
  EXPECT_EQ(outcome_of(accuracy), Outcome::fail);
}

// Losses in nats; scipy.stats.t.interval(0.95, 2, loc=0.01, scale=scipy.stats.sem([0.00, 0.01, 0.02])) is
// [-0.014841, 0.034841], and numpy.expm1 of it.
TEST(Validation, PerplexityIsComparedOverTexts) {
  const std::vector<double> before = {1.0, 2.0, 3.0}, after = {1.0, 2.01, 3.02};
  auto change = compare_perplexity(before, after).value();
  EXPECT_NEAR(change.baseline, std::exp(2.0), 1e-12);
  EXPECT_NEAR(change.candidate, std::exp(2.01), 1e-12);
  EXPECT_NEAR(change.increase, std::expm1(0.01), 1e-12);
  EXPECT_NEAR(change.interval->low, -0.014732, 1e-6);
  EXPECT_NEAR(change.interval->high, 0.035455, 1e-6);
  EXPECT_EQ(outcome_of(change), std::nullopt);
  for (const auto& [allowed, outcome] : {std::pair(0.04, Outcome::pass), std::pair(0.01, Outcome::inconclusive),
                                         std::pair(0.0, Outcome::inconclusive)}) {
    change.allowed = allowed;
    EXPECT_EQ(outcome_of(change), outcome) << allowed;
  }
  auto worse = compare_perplexity(before, std::vector<double>{1.1, 2.1, 3.1001}).value();
  worse.allowed = 0.1;  // where the increase is 10.5 %
  EXPECT_EQ(outcome_of(worse), Outcome::fail);
  auto single = compare_perplexity(std::vector{1.0}, std::vector{1.0}).value();
  single.allowed = 0.5;
  EXPECT_EQ(outcome_of(single), Outcome::inconclusive);
  EXPECT_FALSE(compare_perplexity({}, {}).has_value());
}

TEST(Validation, OfAccuracyAndPerplexityTheWorseDecides) {
  Validation validation;
  EXPECT_EQ(outcome_by_truth(validation), std::nullopt);
  validation.accuracy = drop(1000, 0, 0, 0.01);
  validation.perplexity = compare_perplexity(std::vector{1.0, 2.0}, std::vector{1.0, 2.0});
  EXPECT_EQ(outcome_by_truth(validation), Outcome::pass);
  validation.perplexity->allowed = 0.1;
  EXPECT_EQ(outcome_by_truth(validation), Outcome::pass);
  validation.perplexity->interval = Interval{0.2, 0.3};
  EXPECT_EQ(outcome_by_truth(validation), Outcome::fail);
  validation.accuracy.reset();
  EXPECT_EQ(outcome_by_truth(validation), Outcome::fail);
  EXPECT_EQ(outcome_of(validation), Outcome::fail);
}

Validation with_outputs() {
  Validation validation;
  validation.outputs.agree = false;
  validation.outputs.outputs.resize(2);
  validation.outputs.outputs[0].allowed = 1;
  validation.outputs.outputs[1].allowed = 100;
  return validation;
}

TEST(Validation, NothingToldIsInconclusiveUnlessLabelsDecide) {
  Validation validation = with_outputs();
  validation.outputs.undecided = true;
  EXPECT_EQ(outcome_of(validation), Outcome::inconclusive);
  validation.accuracy = drop(1000, 0, 0, 0.01);
  EXPECT_EQ(outcome_of(validation), Outcome::pass);
}

TEST(Validation, LabelsDecideWhereADropIsAllowed) {
  Validation validation = with_outputs();
  EXPECT_EQ(outcome_of(validation), Outcome::fail);
  validation.accuracy = drop(1000, 0, 0, std::nullopt);
  EXPECT_EQ(outcome_of(validation), Outcome::fail);
  validation.accuracy = drop(1000, 0, 0, 0.01);
  EXPECT_EQ(outcome_of(validation), Outcome::pass);
  validation.outputs.diagnostics.push_back({DiagnosticId::outputs_not_comparable, "there are 2 outputs here", {}});
  EXPECT_EQ(outcome_of(validation), Outcome::fail);
}

TEST(Validation, TheWorstSampleIsWorstByWhatIsAllowed) {
  Validation validation = with_outputs();
  const auto sample = [](std::size_t item, std::size_t output, double difference) {
    return SampleDifference{.item = item, .output = output, .max_absolute = difference};
  };
  validation.samples = {sample(0, 0, 0.5), sample(0, 1, 1),   sample(1, 0, 0),
                        sample(1, 1, 90),  sample(2, 0, 0.6), sample(2, 1, 0)};
  EXPECT_THAT(worst_samples(validation, 9), testing::ElementsAre(3, 4, 0));
  EXPECT_THAT(worst_samples(validation, 1), testing::ElementsAre(3));
  validation.samples[2].non_finite_apart = 1;
  EXPECT_THAT(worst_samples(validation, 2), testing::ElementsAre(2, 4));
  EXPECT_TRUE(worst_samples(validation, 0).empty());
}

TEST(Validation, WhereNothingMayDifferAnyDifferenceIsInfinite) {
  OutputDifference exact;
  EXPECT_EQ(share_of_allowed({.max_absolute = 0}, exact), 0);
  EXPECT_TRUE(std::isinf(share_of_allowed({.max_absolute = 1e-9}, exact)));
  EXPECT_TRUE(std::isinf(share_of_allowed({.mismatched = 1}, exact)));  // texts
}

}  // namespace
}  // namespace infermeter::validation_test
