#include "infermeter/stats/summary/counters.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

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

// 20 steps in an inference of 4 s.
TEST(Counters, OfSamplesTellWhatEachOfThemTakes) {
  auto trials = trials_of({{3, 5}, {1, 4, 7}});
  for (Samples& trial : trials) trial.counters = {{"samples", "1", 20}, {"other", "1", 7}};
  const auto counters = summarise(trials, {}).counters;
  std::vector<std::string> names;
  for (const CounterSummary& counter : counters) names.push_back(counter.name + " " + counter.unit);
  EXPECT_EQ(names, (std::vector<std::string>{"samples 1", "time_total s", "time_per_sample ms", "samples_per_s 1/s",
                                             "other 1"}));
  EXPECT_DOUBLE_EQ(*counters[1].estimate.value, 4);
  EXPECT_DOUBLE_EQ(*counters[2].estimate.value, 200);
  EXPECT_DOUBLE_EQ(*counters[3].estimate.value, 5);
}

TEST(Counters, OfNoSamplesOrNoTimeTellNothingOfThem) {
  for (const double samples : {0.0, -1.0, std::nan("")}) {
    EXPECT_LE(counters_of({{{"samples", "1", samples}}}).size(), 1U) << samples;
  }
  auto trials = trials_of({{0, 0}});
  trials[0].counters = {{"samples", "1", 20}};
  EXPECT_EQ(summarise(trials, {}).counters.size(), 1U);
}

TEST(Counters, OfTheSubjectsOwnGoBeforeThoseDerived) {
  const auto counters = counters_of({{{"samples", "1", 20}, {"time_total", "min", 9}}});
  ASSERT_EQ(counters.size(), 4U);
  EXPECT_EQ(counters[0].name, "samples");
  EXPECT_EQ(counters[1].name, "time_per_sample");
  EXPECT_EQ(counters[3].name, "time_total");
  EXPECT_EQ(counters[3].unit, "min");
}

// Times of a load vary by factors; shares lie between 0 and 1.
TEST(Counters, OfALoadAreTakenAsTheyVary) {
  auto trials = trials_counting({{{"response_p50", "s", 1}, {"failed_share", "share", 0}},
                                 {{"response_p50", "s", 4}, {"failed_share", "share", 0.5}}});
  for (Samples& trial : trials) trial.load.emplace();
  const auto counters = summarise(trials, {}).counters;
  EXPECT_DOUBLE_EQ(*counters[0].estimate.value, 2);
  EXPECT_EQ(counters[0].estimate.method, "geometric mean over processes; t interval on logarithms");
  EXPECT_DOUBLE_EQ(*counters[1].estimate.value, 0.25);
  EXPECT_EQ(counters[1].estimate.interval->low, 0);
  EXPECT_EQ(counters[1].estimate.interval->high, 1);
  // The same names mean nothing without a load.
  EXPECT_DOUBLE_EQ(*counters_of({{{"response_p50", "s", 1}}, {{"response_p50", "s", 4}}})[0].estimate.value, 2.5);
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
