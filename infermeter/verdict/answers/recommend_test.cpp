#include "infermeter/verdict/answers/recommend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>

#include "infermeter/verdict/gate/test_gates.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter::recommend_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Recommendation::Kind;

// Of the second of two subjects.
class Recommend : public testing::Test {
 protected:
  Recommend() : record_(test::run_of({"a", "b"}, {{0.010, 0.0101, 0.0099}, {0.010, 0.0099, 0.0101}})) {}

  std::vector<Recommendation> found(const RecommendOptions& options = {}) const {
    const Verdict verdict = judge(record_);
    return recommend(record_, verdict.subjects.at(1), options);
  }
  std::vector<Kind> kinds(const RecommendOptions& options = {}) const {
    std::vector<Kind> result;
    for (const auto& one : found(options)) result.push_back(one.kind);
    return result;
  }
  void take(double first, double second, double third) {
    record_ = test::run_of({"a", "b"}, {{0.010, 0.0101, 0.0099}, {first, second, third}});
  }
  void set_paired(PairedRight paired) {
    SubjectAccuracy accuracy{.subject = 1, .accuracy = {}, .reference = 0, .paired = paired};
    accuracy.accuracy.labels =
        LabelAccuracy{.rows = paired.both + paired.reference_only + paired.candidate_only + paired.neither,
                      .top1 = paired.both + paired.candidate_only,
                      .top5 = {},
                      .classes = {}};
    record_.accuracy = {accuracy};
  }

  RunRecord record_;
};

TEST_F(Recommend, SpeedStandsOnItsInterval) {
  take(0.005, 0.0051, 0.0049);
  ASSERT_THAT(kinds(), ElementsAre(Kind::faster));
  EXPECT_NEAR(found()[0].value, 2, 0.01);
  take(0.020, 0.0201, 0.0199);
  ASSERT_THAT(kinds(), ElementsAre(Kind::slower));
  EXPECT_NEAR(found()[0].value, 0.5, 0.01);
  take(0.005, 0.02, 0.002);  // twice as fast, and nobody knows
  EXPECT_THAT(kinds(), IsEmpty());
}

// 0.5 % slower at most: no gain of 1 % is left, and no loss of it is shown.
TEST_F(Recommend, NoGainIsSaidWhereItIsRuledOut) {
  record_ = test::run_of({"a", "b"}, {{0.01, 0.010001, 0.009999}, {0.01002, 0.010021, 0.010019}});
  EXPECT_THAT(kinds(), ElementsAre(Kind::not_faster));
  EXPECT_THAT(kinds({.least_change = 0.001}), ElementsAre(Kind::slower));
  take(0.010, 0.0103, 0.0097);  // a gain of 1 % may be
  EXPECT_THAT(kinds(), IsEmpty());
}

TEST_F(Recommend, ANewModelIsSmallerOrLarger) {
  take(0.005, 0.02, 0.002);
  record_.models[1].size_bytes = 25'600'000;
  ASSERT_THAT(kinds(), ElementsAre(Kind::smaller_model));
  EXPECT_DOUBLE_EQ(found()[0].value, 4);
  record_.models[1].size_bytes = 204'800'000;
  ASSERT_THAT(kinds(), ElementsAre(Kind::larger_model));
  record_.models[1].size_bytes = 98'500'000;  // 3.8 % less
  EXPECT_THAT(kinds(), IsEmpty());
  record_.models[1].size_bytes = 0;
  EXPECT_THAT(kinds(), IsEmpty());
}

TEST_F(Recommend, MemoryIsInBytes) {
  take(0.005, 0.02, 0.002);
  for (std::size_t i = 0; i < 6; ++i) record_.trials[i].memory.rss_peak_inference = (i < 3 ? 5000 : 2000) + i % 3;
  ASSERT_THAT(kinds(), ElementsAre(Kind::less_memory));
  EXPECT_NEAR(found()[0].value, 3000, 5);
  for (std::size_t i = 0; i < 6; ++i) record_.trials[i].memory.rss_peak_inference = (i < 3 ? 2000 : 5000) + i % 3;
  ASSERT_THAT(kinds(), ElementsAre(Kind::more_memory));
  EXPECT_NEAR(found()[0].value, -3000, 5);
  record_.trials[4].memory.rss_peak_inference = 900;
  EXPECT_THAT(kinds(), IsEmpty());
}

TEST_F(Recommend, AccuracyIsMaintainedOrLostOrUnclear) {
  take(0.005, 0.02, 0.002);
  set_paired({.both = 36'000, .reference_only = 10, .candidate_only = 8, .neither = 13'982});
  EXPECT_THAT(kinds(), ElementsAre(Kind::accuracy_maintained));
  EXPECT_NEAR(found()[0].value, -0.00004, 1e-9);
  // Certainly worse, and it may be by more than the allowance.
  set_paired({.both = 36'000, .reference_only = 120, .candidate_only = 45, .neither = 13'835});
  EXPECT_THAT(kinds(), ElementsAre(Kind::accuracy_lost));
  EXPECT_THAT(kinds({.accuracy_allowance = 0.01}), ElementsAre(Kind::accuracy_maintained));
  // The same shares of 1000 rows are no evidence, though the value, -0.0010, keeps to the allowance.
  set_paired({.both = 720, .reference_only = 3, .candidate_only = 2, .neither = 275});
  ASSERT_THAT(kinds(), ElementsAre(Kind::accuracy_unclear));
  ASSERT_TRUE(found()[0].more_rows);
  const auto more = *found()[0].more_rows;
  // With as many more it is reported, with nine tenths of them not.
  const auto times = [&](double share) {
    const double factor = 1 + share * static_cast<double>(more) / 1000;
    const auto scaled = [&](double count) { return static_cast<std::uint64_t>(count * factor + 0.5); };
    set_paired({.both = scaled(720), .reference_only = scaled(3), .candidate_only = scaled(2), .neither = scaled(275)});
    return kinds().at(0);
  };
  EXPECT_NE(times(1.05), Kind::accuracy_unclear);
  EXPECT_EQ(times(0.8), Kind::accuracy_unclear);
}

// Neither for its size nor for the times that it had until then.
TEST_F(Recommend, WhatFailedIsNotRecommended) {
  take(0.005, 0.0051, 0.0049);
  record_.models[1].size_bytes = 25'600'000;
  ASSERT_THAT(kinds(), ElementsAre(Kind::faster, Kind::smaller_model));
  for (Samples& trial : record_.trials) {
    if (trial.subject == 1) trial.end = TrialEnd::crashed;
  }
  EXPECT_THAT(kinds(), IsEmpty());
  for (Samples& trial : record_.trials) {
    if (trial.subject != 1) continue;
    trial.begin_s.clear();
    trial.end_s.clear();
  }
  EXPECT_THAT(kinds(), IsEmpty());
}

TEST_F(Recommend, OutputsAndTheBaseline) {
  take(0.005, 0.02, 0.002);
  OutputDifference output;
  output.max_absolute = 0.25;
  record_.outputs = {{.subject = 1,
                      .reference = 0,
                      .comparison = {.agree = false, .items = 1, .outputs = {output}, .diagnostics = {}}}};
  ASSERT_THAT(kinds(), ElementsAre(Kind::outputs_differ));
  EXPECT_EQ(found()[0].value, 0.25);
  record_.outputs[0].comparison.outputs[0].max_absolute = std::nullopt;
  record_.outputs[0].comparison.outputs[0].non_finite_apart = 1;
  EXPECT_TRUE(std::isnan(found()[0].value));  // NaN is no error of 0
  record_.outputs[0].comparison.undecided = true;
  EXPECT_THAT(kinds(), ElementsAre(Kind::outputs_undecided));
  record_.outputs[0].comparison.undecided = false;
  record_.outputs[0].comparison.agree = true;
  EXPECT_THAT(kinds(), ElementsAre(Kind::outputs_agree));
  const Verdict verdict = judge(record_);
  EXPECT_THAT(recommend(record_, verdict.subjects.at(0)), IsEmpty());
}

}  // namespace
}  // namespace infermeter::recommend_test
