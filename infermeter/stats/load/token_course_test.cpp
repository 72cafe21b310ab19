#include "infermeter/stats/load/token_course.hpp"

#include <gmock/gmock.h>

namespace infermeter::token_course_test {
namespace {

using testing::IsEmpty;

using Process = std::vector<TimesOfTokens>;

// Three processes; the last one has no answer that was as long as the others'.
std::vector<Process> processes() {
  return {{{1, 1, 1, 40, 10e-3, 12e-3}, {2, 2, 2, 40, 10.2e-3, {}}, {16, 17, 16.5, 80, 13e-3, {}}},
          {{1, 1, 1, 40, 11e-3, 14e-3}, {2, 2, 2, 40, 11.1e-3, {}}, {16, 17, 16.25, 20, 12e-3, {}}},
          {{1, 1, 1, 5, 9e-3, {}}, {3, 3, 3, 5, 9.8e-3, {}}}};
}

// Expected: scipy.stats.t.interval of the logarithms.
TEST(TokenCourse, APointIsTheMeanOfItsProcessesMedians) {
  const TokenCourse course = token_course(processes(), {});
  ASSERT_EQ(course.points.size(), 4U);
  const CoursePoint& first = course.points[0];
  EXPECT_EQ(first.count, 85U);
  EXPECT_EQ(first.p50_s.processes, 3);
  EXPECT_NEAR(*first.p50_s.value, 9.966554934e-3, 1e-11);
  EXPECT_NEAR(first.p50_s.interval->low, 7.76700e-3, 1e-8);
  EXPECT_NEAR(first.p50_s.interval->high, 12.78901e-3, 1e-8);
  EXPECT_EQ(first.p90_s.processes, 2) << "five times have no p90";
  EXPECT_NEAR(*first.p90_s.value, 12.961481397e-3, 1e-11);
  EXPECT_NEAR(first.p90_s.interval->high, 34.51234e-3, 1e-8);
  EXPECT_EQ(course.points[2].first, 3U);
  EXPECT_FALSE(course.points[2].p50_s.interval) << "one process has no interval";
  EXPECT_FALSE(course.points[2].p90_s.value);
  EXPECT_NEAR(course.points[3].tokens_mean, 16.45, 1e-12) << "80 times at 16.5 and 20 at 16.25";
}

// Expected: numpy.polyfit with the roots of the counts as weights, and scipy.stats.t.interval of the slopes.
TEST(TokenCourse, GrowthIsTheSlopeOfEachProcess) {
  std::vector<Process> all = processes();
  all[1][2].tokens_mean = 16.5;
  const Estimate growth = token_course(all, {}).growth_s;
  EXPECT_NEAR(*growth.value, 2.1896134e-4, 1e-10);
  EXPECT_NEAR(growth.interval->low, -2.0256725e-4, 1e-10);
  EXPECT_NEAR(growth.interval->high, 6.4048993e-4, 1e-10);
  EXPECT_EQ(growth.processes, 3);
  EXPECT_EQ(growth.n, 270);
}

TEST(TokenCourse, OfOneNumberOfTokensThereIsNoGrowth) {
  const std::vector<Process> all = {{{128, 135, 128, 9, 0.1, {}}}, {{128, 135, 128, 9, 0.2, {}}}};
  const TokenCourse course = token_course(all, {});
  EXPECT_EQ(course.points.size(), 1U);
  EXPECT_FALSE(course.growth_s.value);
  EXPECT_EQ(course.growth_s.note, "needs two numbers of tokens");
  EXPECT_THAT(token_course({}, {}).points, IsEmpty());
}

}  // namespace
}  // namespace infermeter::token_course_test
