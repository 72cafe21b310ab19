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
  judge_masks(accuracy, {0.9}, {0.9});
  EXPECT_EQ(outcome_of(accuracy), Outcome::inconclusive);  // one image has no spread
  // scipy.stats.t.interval(0.95, 3, loc=-0.1, scale=scipy.stats.sem([-0.1, -0.11, -0.09, -0.1]))
  judge_masks(accuracy, {0.9, 0.9, 0.9, 0.9}, {0.8, 0.79, 0.81, 0.8});
  EXPECT_NEAR(accuracy.change->interval.low, -0.11299, 1e-5);
  EXPECT_NEAR(accuracy.change->interval.high, -0.08701, 1e-5);
  EXPECT_EQ(outcome_of(accuracy), Outcome::fail);
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
