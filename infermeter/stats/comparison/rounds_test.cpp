#include "infermeter/stats/comparison/rounds.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/stats/test_noise.hpp"

namespace infermeter::rounds_test {
namespace {

// By another program, on dense grids of the density (SciPy's normal distribution, Simpson's rule).
TEST(Rounds, LevelsAreThoseOfDenseGrids) {
  const std::vector<std::pair<int, double>> at_looks = {
      {5, 0.0178687}, {8, 0.0137503}, {12, 0.0159227}, {20, 0.0225725}};
  for (const auto& [rounds, level] : at_looks) EXPECT_NEAR(round_level(rounds, 0.05, false) / level, 1, 1e-4) << rounds;
  EXPECT_NEAR(round_level(3, 0.05, false), 0.0114659, 1e-6);
  EXPECT_NEAR(round_level(6, 0.05, false), 0.0099553, 1e-6);
}

TEST(Rounds, WhatIsLeftIsSpentWhereTimeEndsThem) {
  EXPECT_NEAR(round_level(3, 0.05, true), 0.05, 1e-9);
  EXPECT_NEAR(round_level(6, 0.05, true), 0.0471244, 1e-6);
  EXPECT_NEAR(round_level(10, 0.05, true), 0.0374137, 1e-6);
  EXPECT_NEAR(round_level(20, 0.05, true), round_level(20, 0.05, false), 1e-9);
  EXPECT_EQ(round_level(1, 0.05, true), 0.05);
}

struct Outcome {
  double together = 0;  // share of runs whose intervals cover at every look
  double at_end = 0;    // at the look that ended the run
};

// Runs end when the interval excludes 0 or lies within 2 %, or after 20 rounds.
Outcome simulate(double truth, int runs, const std::function<double(SplitMix&)>& noise) {
  SplitMix random(20261124);
  int together = 0, at_end = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> ratios;
    bool all = true, ended = false;
    for (int round = 1; round <= kMostRounds; ++round) {
      ratios.push_back(std::exp(truth + noise(random)));
      if (!is_round_look(round)) continue;
      const Interval interval = *centre_of(ratios, 1 - round_level(round, 0.05, false)).interval;
      const bool covers = std::log(interval.low) <= truth && truth <= std::log(interval.high);
      all = all && covers;
      const bool decided = interval.low > 1 || interval.high < 1 || (interval.low > 1 / 1.02 && interval.high < 1.02);
      if (!ended && (decided || round == kMostRounds)) ended = true, at_end += covers ? 1 : 0;
    }
    together += all ? 1 : 0;
  }
  return {static_cast<double>(together) / runs, static_cast<double>(at_end) / runs};
}

// Intervals at 95 % each would cover together in 85 to 88 %.
TEST(Rounds, IntervalsOfAllLooksCoverTogether) {
  for (const double deviation : {0.01, 0.03, 0.1}) {
    const auto normal = [&](SplitMix& random) { return deviation * random.normal(); };
    EXPECT_NEAR(simulate(0, 4000, normal).together, 0.95, 0.01) << deviation;
    EXPECT_GE(simulate(0, 4000, normal).at_end, 0.94) << deviation;
  }
}

TEST(Rounds, TheIntervalThatEndsARunCovers) {
  for (const double truth : {0.01, 0.03, 0.1}) {
    const auto normal = [](SplitMix& random) { return 0.03 * random.normal(); };
    EXPECT_GE(simulate(truth, 3000, normal).at_end, 0.94) << truth;
  }
  EXPECT_GE(simulate(0, 3000, [](SplitMix& random) { return 0.01 * random.t3(); }).at_end, 0.94);
}

// Processes of two kinds, as likely: five alike are one of sixteen. Three alike were one of four.
TEST(Rounds, TwoKindsOfProcessesAreSeldomTakenForOne) {
  const auto two_kinds = [](SplitMix& random) {
    return (random.uniform() < 0.5 ? -0.02 : 0.02) + 0.003 * random.normal();
  };
  EXPECT_GE(simulate(0, 3000, two_kinds).at_end, 0.88);
}

TEST(Replications, AsManyAsMakeStudentsIntervalSoNarrow) {
  // scipy.stats.t.ppf(0.975, n - 1) / sqrt(n): 8.985, 2.484, 1.591, 1.242, 1.049, 0.925 for 2 to 7.
  EXPECT_EQ(replications_for(1.0, 2, 0.95, 10), 3);
  EXPECT_EQ(replications_for(0.27, 2, 0.95, 10), 4);
  EXPECT_EQ(replications_for(0.28, 2, 0.95, 10), 3);
  EXPECT_EQ(replications_for(0.5, 3, 0.95, 100), 5);
  EXPECT_FALSE(replications_for(0.01, 3, 0.95, 100));
  EXPECT_FALSE(replications_for(0.5, 100, 0.95, 100));
}

TEST(Rounds, TellHowManyMoreItTakes) {
  // 5 rounds that vary by 3 %: ±2 % is reached where t s/√n is 2 %, after 12 in all (2.201 · 0.03 / √12 = 0.0191).
  const double half = 2.776 * 0.03 / std::sqrt(5);
  const Interval interval{std::exp(-half), std::exp(half), 0.95};
  EXPECT_EQ(more_rounds(interval, 5, 0.05, 0.02), 7);
  EXPECT_FALSE(more_rounds(interval, 5, 0.05, 0.0001));
}

}  // namespace
}  // namespace infermeter::rounds_test
