#include "infermeter/stats/summary/counters.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "infermeter/stats/test_trials.hpp"

namespace infermeter::counters_test {
namespace {

// One trial per list of counters.
std::vector<Samples> trials_counting(const std::vector<std::vector<Counter>>& counters) {
  auto trials = trials_of(std::vector<std::vector<double>>(counters.size(), {1, 1}));
  for (std::size_t i = 0; i < counters.size(); ++i) trials[i].counters = counters[i];
  return trials;
}

std::vector<CounterSummary> counters_of(const std::vector<std::vector<Counter>>& counters) {
  return summarise(trials_counting(counters), {}).counters;
}

// z = [-1, 0, 4]; scipy.stats.t.interval(0.95, 2, np.mean(z), scipy.stats.sem(z))
TEST(Counters, AreTheMeanOfTheValuesAsTheyAre) {
  const auto counters = counters_of({{{"drift", "dB", -1}}, {{"drift", "dB", 0}}, {{"drift", "dB", 4}}});
  ASSERT_EQ(counters.size(), 1U);
  const Estimate& estimate = counters[0].estimate;
  EXPECT_EQ(counters[0].name, "drift");
  EXPECT_EQ(counters[0].unit, "dB");
  EXPECT_DOUBLE_EQ(*estimate.value, 1);
  EXPECT_NEAR(estimate.interval->low, -5.572410607728428, 1e-12);
  EXPECT_NEAR(estimate.interval->high, 7.572410607728428, 1e-12);
  EXPECT_EQ(estimate.n, 3);
  EXPECT_EQ(estimate.processes, 3);
  EXPECT_EQ(estimate.method, "mean over processes; t interval");
  EXPECT_EQ(estimate.note, "");
}

// The geometric mean of positive values would be 0.8485.
TEST(Counters, AreNeverTakenOnLogarithms) {
  EXPECT_DOUBLE_EQ(*counters_of({{{"rate", "1", 0.8}}, {{"rate", "1", 0.9}}})[0].estimate.value, 0.85);
}

TEST(Counters, OfOneProcessHaveNoInterval) {
  const auto counters = counters_of({{{"rate", "1", 0.8}}});
  EXPECT_EQ(counters[0].estimate.value, 0.8);
  EXPECT_FALSE(counters[0].estimate.interval);
  EXPECT_EQ(counters[0].estimate.note, "needs 2 processes for an interval");
}

TEST(Counters, SayHowManyProcessesGaveThem) {
  const auto counters = counters_of({{{"a", "", 1}, {"b", "", 5}}, {{"a", "", 1}}, {{"b", "", 7}, {"c", "", 2}}});
  ASSERT_EQ(counters.size(), 3U);
  EXPECT_EQ(counters[0].estimate.note, "given by 2 of 3 processes");
  EXPECT_EQ(counters[0].estimate.interval->high, 1);
  EXPECT_EQ(*counters[1].estimate.value, 6);
  EXPECT_EQ(counters[2].estimate.note, "given by 1 of 3 processes; needs 2 processes for an interval");
}

TEST(Counters, LeaveOutWhatIsNoNumber) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const auto counters = counters_of({{{"a", "", nan}, {"b", "", infinity}}, {{"a", "", 3}, {"b", "", nan}}});
  EXPECT_EQ(counters[0].estimate.value, 3);
  EXPECT_EQ(counters[0].estimate.processes, 1);
  EXPECT_FALSE(counters[1].estimate.value);
  EXPECT_EQ(counters[1].estimate.note, "no process gave a finite value");
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(counters_of({{{"a", "", most}}, {{"a", "", most / 2}}})[0].estimate.note,
            "the processes differ too much for an interval");
  EXPECT_EQ(counters_of({{{"a", "", most}}, {{"a", "", -most}}})[0].estimate.note,
            "too large for a floating-point number");
}

TEST(Counters, AreNotMixedOverUnits) {
  const auto counters = counters_of({{{"wait", "ms", 1}}, {{"wait", "s", 2}}});
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_FALSE(counters[0].estimate.value);
  EXPECT_EQ(counters[0].estimate.note, "its unit differs between processes");
}

TEST(Counters, TakeTheFirstOfANameThatComesTwice) {
  const auto counters = counters_of({{{"a", "", 1}, {"a", "s", 9}}, {{"a", "", 3}}});
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0].estimate.value, 2);
  EXPECT_EQ(counters[0].estimate.n, 2);
}

TEST(Counters, AreThoseOfWholeTrialsWhereThereAreAny) {
  auto trials = trials_counting({{{"a", "", 1}}, {{"a", "", 9}}});
  trials[1].end = TrialEnd::interrupted;
  EXPECT_EQ(summarise(trials, {}).counters[0].estimate.value, 1);
  trials.erase(trials.begin());
  EXPECT_EQ(summarise(trials, {}).counters[0].estimate.value, 9);
  EXPECT_TRUE(summarise({}, {}).counters.empty());
}

}  // namespace
}  // namespace infermeter::counters_test
