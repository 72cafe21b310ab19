#include "infermeter/stats/summary/distribution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "infermeter/stats/test_trials.hpp"

namespace infermeter::distribution_test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

double at(std::span<const double> levels, const std::vector<double>& quantiles, double level) {
  const auto found = std::ranges::find(levels, level);
  EXPECT_NE(found, levels.end()) << level;
  return quantiles.at(static_cast<std::size_t>(found - levels.begin()));
}

TEST(Distribution, LevelsAscendFromZeroToOne) {
  for (const auto levels : {pooled_levels(), process_levels()}) {
    EXPECT_EQ(levels.front(), 0);
    EXPECT_EQ(levels.back(), 1);
    EXPECT_EQ(std::ranges::adjacent_find(levels, std::greater_equal<>()), levels.end());
  }
  EXPECT_THAT(pooled_levels(), SizeIs(205));
  EXPECT_THAT(process_levels(), ElementsAre(0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1));
}

TEST(Distribution, IsOfAllProcessesAndOfEach) {
  std::vector<double> first;
  for (int i = 1; i <= 101; ++i) first.push_back(i);
  const auto trials = trials_of({first, {201, 203, 202}});
  const TimeDistribution distribution = distribution_of(subject_times(trials, {}));
  EXPECT_EQ(distribution.n, 104);
  EXPECT_EQ(distribution.quantiles_s.front(), 1);
  EXPECT_EQ(distribution.quantiles_s.back(), 203);
  EXPECT_EQ(at(pooled_levels(), distribution.quantiles_s, 0.5), 52.5);
  // np.quantile(pooled, 0.999): rank 102.897 of 0 … 103, between 202 and 203
  EXPECT_NEAR(at(pooled_levels(), distribution.quantiles_s, 0.999), 202.897, 1e-9);
  ASSERT_THAT(distribution.processes, SizeIs(2));
  EXPECT_EQ(distribution.processes[0].n, 101);
  EXPECT_EQ(at(process_levels(), distribution.processes[0].quantiles_s, 0.99), 100);
  EXPECT_EQ(distribution.processes[1].process, 1);
  EXPECT_EQ(distribution.processes[1].position, 1);
  EXPECT_EQ(at(process_levels(), distribution.processes[1].quantiles_s, 0.25), 201.5);
}

// Two-sided 95 % intervals of the quantile, as quantile_needs has them; of the least, the greatest, and the median of a
// process nothing is asked.
TEST(Distribution, SaysHowManyIterationsEachLevelNeeds) {
  const auto pooled = pooled_needs(), process = process_needs();
  ASSERT_EQ(pooled.size(), pooled_levels().size());
  ASSERT_EQ(process.size(), process_levels().size());
  EXPECT_EQ(process, (std::vector<double>{1, 299, 59, 29, 11, 1, 11, 29, 59, 299, 1}));
  EXPECT_EQ(pooled.front(), 1);
  EXPECT_EQ(pooled.back(), 1);
  EXPECT_EQ(at(pooled_levels(), pooled, 0.5), 6);
  EXPECT_EQ(at(pooled_levels(), pooled, 0.99), 299);
  EXPECT_EQ(at(pooled_levels(), pooled, 0.999), 2995);
}

TEST(Distribution, HasTukeysFencesOfEachProcess) {
  const auto trials = trials_of({{1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 20}});
  const Fences fences = distribution_of(subject_times(trials, {})).processes.at(0).fences_s;
  EXPECT_EQ(fences.severe_low, -11.5);
  EXPECT_EQ(fences.mild_low, -4);
  EXPECT_EQ(fences.mild_high, 16);
  EXPECT_EQ(fences.severe_high, 23.5);
}

TEST(Distribution, OfOneIterationIsThatOne) {
  const auto trials = trials_of({{0.5}});
  const TimeDistribution distribution = distribution_of(subject_times(trials, {}));
  EXPECT_EQ(distribution.n, 1);
  EXPECT_THAT(distribution.quantiles_s, testing::Each(0.5));
  EXPECT_EQ(distribution.processes.at(0).fences_s.mild_high, 0.5);
}

TEST(Distribution, OfNoIterationsIsEmpty) {
  const TimeDistribution distribution = distribution_of(subject_times({}, {}));
  EXPECT_EQ(distribution.n, 0);
  EXPECT_TRUE(distribution.quantiles_s.empty());
  EXPECT_TRUE(distribution.processes.empty());
}

TEST(Distribution, PartialTrialsCountOnlyWhereThereIsNoWholeOne) {
  std::vector<Samples> trials = {trial_of(0, {1, 2}), trial_of(1, {100}, TrialEnd::crashed)};
  EXPECT_EQ(distribution_of(subject_times(trials, {})).n, 2);
  trials.erase(trials.begin());
  EXPECT_EQ(distribution_of(subject_times(trials, {})).n, 1);
}

}  // namespace
}  // namespace infermeter::distribution_test
