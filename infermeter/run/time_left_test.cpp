#include "infermeter/run/time_left.hpp"

#include <gtest/gtest.h>

namespace infermeter::time_left_test {
namespace {

Samples ended(int subject, double wall_s) {
  Samples samples;
  samples.subject = subject;
  samples.wall_s = wall_s;
  return samples;
}

Plan two_subjects() {
  Plan plan;
  plan.subjects.resize(2);
  plan.order = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {1, 2}};
  return plan;
}

TEST(TimeLeft, IsUnknownBeforeTheFirstTrialHasEnded) { EXPECT_FALSE(time_left_s(two_subjects(), {}, 0)); }

TEST(TimeLeft, TakesAllTrialsForASubjectThatHasNone) {
  const std::vector<Samples> trials = {ended(0, 3)};
  EXPECT_DOUBLE_EQ(time_left_s(two_subjects(), trials, 1).value(), 15);
}

TEST(TimeLeft, TakesEachSubjectsOwnMean) {
  const std::vector<Samples> trials = {ended(0, 3), ended(1, 1), ended(1, 2)};
  EXPECT_DOUBLE_EQ(time_left_s(two_subjects(), trials, 3).value(), 3 + 3 + 1.5);
  EXPECT_DOUBLE_EQ(time_left_s(two_subjects(), trials, 6).value(), 0);
}

TEST(TimeLeft, TakesWhatPilotsLetExpectBeforeATrialHasEnded) {
  const std::vector<std::optional<double>> expected = {4.0, 0.5};
  EXPECT_DOUBLE_EQ(time_left_s(two_subjects(), {}, 0, expected).value(), 3 * 4 + 3 * 0.5);
  const std::vector<Samples> trials = {ended(0, 3)};
  EXPECT_DOUBLE_EQ(time_left_s(two_subjects(), trials, 1, expected).value(), 2 * 3 + 3 * 0.5);
  const std::vector<std::optional<double>> half = {4.0, std::nullopt};
  EXPECT_FALSE(time_left_s(two_subjects(), {}, 0, half));
}

TEST(TimeLeft, EndsWhereTheRunMayEnd) {
  const std::vector<Samples> trials = {ended(0, 3), ended(1, 1)};
  EXPECT_DOUBLE_EQ(time_left_s(two_subjects(), trials, 2, {}, 4).value(), 1 + 3);
  EXPECT_DOUBLE_EQ(time_left_s(two_subjects(), trials, 4, {}, 4).value(), 0);
}

}  // namespace
}  // namespace infermeter::time_left_test
