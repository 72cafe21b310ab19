#include "infermeter/verdict/answers/pareto.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace infermeter::pareto_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Point = std::vector<std::optional<ParetoValue>>;

ParetoValue exact(double value) { return {.value = value, .interval = {}, .exact = true}; }
ParetoValue near(double value, double half) {
  return {.value = value, .interval = Interval{value - half, value + half}};
}

// Time, less is better; accuracy, more is.
constexpr std::array<bool, 2> time_and_accuracy = {true, false};

std::vector<ParetoPlace> places(std::span<const bool> lower, const std::vector<Point>& points) {
  std::vector<ParetoPlace> result;
  for (const auto& verdict : pareto_front(lower, points)) result.push_back(verdict.place);
  return result;
}

constexpr auto front = ParetoPlace::front, dominated = ParetoPlace::dominated, not_placed = ParetoPlace::not_placed;

TEST(Pareto, LeavesWhatNothingIsBetterThan) {
  const std::vector<Point> points = {
      {exact(4), exact(0.9)}, {exact(2), exact(0.8)}, {exact(3), exact(0.7)}, {exact(5), exact(0.9)}};
  EXPECT_THAT(places(time_and_accuracy, points), ElementsAre(front, front, dominated, dominated));
  const auto verdicts = pareto_front(time_and_accuracy, points);
  EXPECT_THAT(verdicts[2].dominated_by, ElementsAre(1));
  EXPECT_THAT(verdicts[3].dominated_by, ElementsAre(0));
  EXPECT_THAT(verdicts[0].dominated_by, IsEmpty());
}

TEST(Pareto, EqualPointsBothStay) {
  EXPECT_THAT(places(time_and_accuracy, {{exact(1), exact(1)}, {exact(1), exact(1)}}), ElementsAre(front, front));
}

// Intervals that overlap do not say that the slower number is no worse.
TEST(Pareto, WhatTheNoiseHidesKeepsAPointOnTheFront) {
  EXPECT_THAT(places(time_and_accuracy, {{near(1.00, 0.05), exact(0.7)}, {near(1.02, 0.05), exact(0.8)}}),
              ElementsAre(front, front));
  // 16 of 16 rows against 15 of 16: not distinguished, whatever the time.
  EXPECT_THAT(places(time_and_accuracy, {{near(1, 0.01), near(0.94, 0.19)}, {near(2, 0.01), near(1.0, 0.19)}}),
              ElementsAre(front, front));
  EXPECT_THAT(places(time_and_accuracy, {{near(1, 0.01), near(0.94, 0.001)}, {near(2, 0.01), near(0.94, 0.001)}}),
              ElementsAre(front, dominated));
}

// Equal but for a hundredth, and known so well.
TEST(Pareto, WhatIsWorseByLessThanTheMarginIsNoWorse) {
  EXPECT_THAT(places(time_and_accuracy, {{near(1.000, 0.002), exact(0.7)}, {near(1.002, 0.002), exact(0.8)}}),
              ElementsAre(dominated, front));
  EXPECT_THAT(places(time_and_accuracy, {{near(1.00, 0.002), exact(0.7)}, {near(1.02, 0.002), exact(0.8)}}),
              ElementsAre(front, front));
  // Exact figures have no margin.
  EXPECT_THAT(places(time_and_accuracy, {{exact(1.000), exact(0.7)}, {exact(1.001), exact(0.8)}}),
              ElementsAre(front, front));
}

// A smaller number is not better until it is clear.
TEST(Pareto, WhatIsNotClearlyBetterDoesNotDominate) {
  EXPECT_THAT(places(time_and_accuracy, {{near(1.0, 0.2), exact(0.8)}, {near(1.3, 0.2), exact(0.8)}}),
              ElementsAre(front, front));
  EXPECT_THAT(places(time_and_accuracy, {{near(1.0, 0.1), exact(0.8)}, {near(1.3, 0.1), exact(0.8)}}),
              ElementsAre(front, dominated));
  // Of one process there is no interval.
  EXPECT_THAT(
      places(time_and_accuracy, {{ParetoValue{.value = 1.0}, exact(0.8)}, {ParetoValue{.value = 9.0}, exact(0.7)}}),
      ElementsAre(front, front));
}

TEST(Pareto, WhoLacksAFigureIsNotPlaced) {
  EXPECT_THAT(
      places(time_and_accuracy, {{exact(1), exact(0.8)}, {exact(0.1), std::nullopt}, {std::nullopt, std::nullopt}}),
      ElementsAre(front, not_placed, not_placed));
  // A figure that nobody has does not count.
  EXPECT_THAT(places(time_and_accuracy, {{exact(1), std::nullopt}, {exact(2), std::nullopt}}),
              ElementsAre(front, dominated));
  EXPECT_THAT(places(time_and_accuracy, {{std::nullopt, std::nullopt}}), ElementsAre(not_placed));
  EXPECT_THAT(places(time_and_accuracy, {}), IsEmpty());
}

// Each better than the next in one figure, and worse by less than the margin in the others.
TEST(Pareto, ARingTakesNothingAway) {
  constexpr std::array<bool, 3> lower = {true, true, true};
  const ParetoValue best = near(1, 1e-4), middle = near(1.004, 1e-4), worst = near(1.008, 1e-4);
  const std::vector<Point> ring = {{best, worst, middle}, {middle, best, worst}, {worst, middle, best}};
  EXPECT_THAT(places(lower, ring), ElementsAre(front, front, front));
  auto with_outsider = ring;
  with_outsider.push_back({near(20, 0.1), near(20, 0.1), near(20, 0.1)});
  EXPECT_THAT(places(lower, with_outsider), ElementsAre(front, front, front, dominated));
}

}  // namespace
}  // namespace infermeter::pareto_test
