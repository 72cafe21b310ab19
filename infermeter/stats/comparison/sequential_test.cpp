#include "infermeter/stats/comparison/sequential.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/test_normal.hpp"

namespace infermeter::sequential_test {
namespace {

std::vector<double> repeated(std::vector<double> pattern, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = pattern[i % pattern.size()];
  return values;
}

std::vector<int> pairs_of(const std::vector<Look>& looks) {
  std::vector<int> pairs;
  for (const Look& look : looks) pairs.push_back(look.pairs);
  return pairs;
}

// Views of what the caller keeps.
std::vector<CoinPairs> all_of(const std::vector<std::vector<double>>& candidates) {
  return {candidates.begin(), candidates.end()};
}

bool same(const Look& a, const Look& b) {
  const auto bounds = [](const Look& look) {
    return look.interval ? std::vector<double>{look.interval->low, look.interval->high, look.interval->confidence}
                         : std::vector<double>{};
  };
  return a.pairs == b.pairs && a.level == b.level && a.p == b.p && a.estimate == b.estimate && bounds(a) == bounds(b) &&
         a.direction == b.direction;
}

TEST(Looks, AreMoreOftenAtFirstAndAtTheEnd) {
  EXPECT_EQ(usual_looks(40), Design{}.looks);
  EXPECT_EQ(usual_looks(18), (std::vector<int>{8, 10, 12, 14, 16, 18}));
  EXPECT_EQ(usual_looks(60), (std::vector<int>{8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 48, 56, 60}));
  EXPECT_EQ(usual_looks(8), (std::vector<int>{8}));
  EXPECT_EQ(usual_looks(5), (std::vector<int>{5}));
}

TEST(Looks, StopWhereTheyResolve) {
  NormalNoise noise(21);
  std::vector<double> slower = noise.draw(40, 0.006, 0.01);
  slower[3] = -0.002;  // eight equal signs would decide at once
  const std::vector<Look> looks = take_looks({slower}, {}, false);
  ASSERT_GE(looks.size(), 2U);
  const auto pairs = static_cast<std::size_t>(looks.back().pairs);
  EXPECT_EQ(looks[0].direction, Direction::unresolved);
  EXPECT_EQ(looks.back().direction, Direction::slower);
  EXPECT_EQ(looks.back().p, signed_rank_p(std::span(slower).first(pairs)));
  EXPECT_EQ(looks.back().estimate, hodges_lehmann(std::span(slower).first(pairs)));
  EXPECT_EQ(looks.back().interval->confidence, 0.95);
  std::vector<double> faster = slower;
  for (double& value : faster) value = -value;
  EXPECT_EQ(take_looks({faster}, {}, false).back().direction, Direction::faster);
}

// 1/128 of alpha is spent at eight pairs, so that eight equal signs decide, and seven of eight do not.
TEST(Looks, AtEightPairsDecideByEqualSigns) {
  std::vector<double> values = {0.011, 0.012, 0.013, 0.014, 0.015, 0.016, 0.017, 0.018};
  EXPECT_EQ(take_looks({values}, {}, false).back().direction, Direction::slower);
  EXPECT_GE(take_looks({values}, {}, false).back().level, 2.0 / 256);
  values[0] = -0.001;
  EXPECT_EQ(take_looks({values}, {}, false).back().direction, Direction::unresolved);
  // At 1 % so much at once would be too much: ten are.
  const Design strict{.alpha = 0.01};
  const std::vector<double> equal(10, 0.01);
  EXPECT_EQ(take_looks({equal}, strict, false).back().pairs, 10);
  EXPECT_EQ(take_looks({equal}, strict, false).back().direction, Direction::slower);
}

TEST(Looks, HaveADirectionExactlyWherePIsWithinTheLevel) {
  NormalNoise noise(22);
  int found = 0;
  for (int run = 0; run < 300; ++run) {
    for (const Look& look : take_looks({noise.draw(40, 0.004, 0.01)}, {}, true)) {
      EXPECT_EQ(look.direction != Direction::unresolved, look.p <= look.level);
      found += look.direction == Direction::slower ? 1 : 0;
    }
  }
  EXPECT_GT(found, 100);
}

TEST(Looks, DoNotChangeAsPairsComeIn) {
  NormalNoise noise(23);
  const std::vector<double> values = noise.draw(60, 0.003, 0.01);
  const std::vector<Look> all = take_looks({values}, {}, false);
  for (std::size_t n = 0; n <= values.size(); ++n) {
    const std::vector<Look> some = take_looks({std::span(values).first(n)}, {}, false);
    ASSERT_LE(some.size(), all.size());
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin(), same)) << n;
  }
  EXPECT_LE(all.back().pairs, 40);
}

TEST(Looks, SpendWhatIsLeftWherePairsEnd) {
  NormalNoise noise(24);
  const std::vector<double> values = noise.draw(40, 0, 0.01);
  EXPECT_EQ(pairs_of(take_looks({std::span(values).first(18)}, {}, false)), (std::vector<int>{8, 10, 12, 14, 16}));
  const std::vector<Look> between = take_looks({std::span(values).first(18)}, {}, true);
  EXPECT_EQ(pairs_of(between), (std::vector<int>{8, 10, 12, 14, 16, 18}));
  EXPECT_EQ(between.back().level, planned_looks({}, 18, true).back().level);
  EXPECT_GT(between.back().level, 0.03);
  const std::vector<Look> planned = take_looks({std::span(values).first(16)}, {}, true);
  EXPECT_EQ(pairs_of(planned), (std::vector<int>{8, 10, 12, 14, 16}));
  EXPECT_EQ(planned.back().level, planned_looks({}, 16, true).back().level);
  EXPECT_GT(planned.back().level, planned_looks({}, 16, false).back().level);
  // At the last planned look nothing is left over.
  EXPECT_EQ(take_looks({values}, {}, true).back().level, take_looks({values}, {}, false).back().level);
}

TEST(Looks, AtTooFewPairsShowAnEstimateAndResolveNothing) {
  EXPECT_TRUE(take_looks({}, {}, true).empty());
  EXPECT_TRUE(take_looks({std::vector<double>(7, 0.02)}, {}, false).empty());
  for (const std::size_t pairs : {1U, 5U}) {
    const std::vector<Look> looks = take_looks({std::vector<double>(pairs, 0.02)}, {}, true);
    ASSERT_EQ(looks.size(), 1U);
    EXPECT_EQ(looks[0].estimate, 0.02);
    EXPECT_FALSE(looks[0].interval);
    EXPECT_EQ(looks[0].direction, Direction::unresolved);
  }
  EXPECT_EQ(take_looks({std::vector<double>(6, 0.02)}, {}, true).back().direction, Direction::slower);
}

TEST(Looks, FindEquivalenceWithinTheMargin) {
  NormalNoise noise(25);
  const std::vector<double> values = noise.draw(40, 0, 0.002);
  Design design;
  design.margin = 0.01;
  const std::vector<Look> looks = take_looks({values}, design, false);
  EXPECT_EQ(looks.back().direction, Direction::equivalent);
  EXPECT_LE(looks.back().pairs, 16);
  EXPECT_EQ(take_looks({values}, {}, true).back().direction, Direction::unresolved);
  // A small difference that is shown is a direction, not equivalence.
  const std::vector<double> small = repeated({0.001, 0.0011, 0.0012, 0.0009}, 40);
  EXPECT_EQ(take_looks({small}, design, false).back().direction, Direction::slower);
}

// An equivalence found at its own level ended the measurement there; the larger level of an end by budget is not for
// it.
TEST(Looks, ThatFoundEquivalenceAreNotTakenAgain) {
  NormalNoise noise(26);
  Design design;
  design.margin = 0.01;
  const std::vector<double> values = noise.draw(16, 0.001, 0.002);
  const std::vector<Look> before = take_looks({values}, design, false);
  const std::vector<Look> after = take_looks({values}, design, true);
  ASSERT_EQ(before.back().direction, Direction::equivalent);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin(), after.end(), same));
}

TEST(Looks, AtNoDifferenceAtAllFindEquivalence) {
  Design design;
  design.margin = 0.01;
  const std::vector<double> zeros(40, 0.0);
  const Look last = take_looks({zeros}, design, false).back();
  EXPECT_EQ(last.pairs, 8);
  EXPECT_EQ(last.p, 1);
  EXPECT_EQ(last.interval->low, 0);
  EXPECT_EQ(last.interval->high, 0);
  EXPECT_EQ(last.direction, Direction::equivalent);
  EXPECT_EQ(take_looks({zeros}, {}, false).back().direction, Direction::unresolved);
  EXPECT_EQ(take_looks({std::vector<double>(40, 1e-6)}, design, false).back().direction, Direction::slower);
}

TEST(Looks, UntilResolvedAreTakenAfterEveryPair) {
  NormalNoise noise(27);
  Design design;
  design.until_resolved = true;
  const std::vector<double> values = noise.draw(200, 0.02, 0.01);
  const std::vector<Look> looks = take_looks({values}, design, false);
  EXPECT_EQ(looks.front().pairs, 3);
  EXPECT_EQ(looks.back().direction, Direction::slower);
  EXPECT_LE(looks.back().p, 0.05);
  EXPECT_EQ(looks.back().level, 0.05);
  EXPECT_EQ(looks.size(), static_cast<std::size_t>(looks.back().pairs - 2));
  for (std::size_t i = 0; i + 1 < looks.size(); ++i) EXPECT_GT(looks[i].p, 0.05);
  EXPECT_TRUE(take_looks({std::span(values).first(2)}, design, true).empty());
  design.margin = 0.01;
  EXPECT_EQ(take_looks({noise.draw(200, 0, 0.005)}, design, false).back().direction, Direction::equivalent);
}

// 5 % is the aim, 4 standard errors are 1.4 %. Each look at 5 % would raise 14 %.
TEST(LooksSimulation, RarelyRaiseAFalseAlarm) {
  NormalNoise noise(28);
  constexpr int runs = 4000;
  int alarms = 0;
  for (int run = 0; run < runs; ++run) {
    alarms += take_looks({noise.draw(40, 0, 0.01)}, {}, false).back().direction != Direction::unresolved ? 1 : 0;
  }
  EXPECT_LE(alarms, runs * 0.06);
  EXPECT_GE(alarms, runs * 0.035);
}

TEST(LooksTogether, OfOneAreItsOwn) {
  NormalNoise noise(29);
  const std::vector<std::vector<double>> one = {noise.draw(33, 0.002, 0.01)};
  for (const bool until_resolved : {false, true}) {
    Design design;
    design.until_resolved = until_resolved;
    const auto together = take_looks_together(all_of(one), design, true);
    const auto alone = take_looks({one[0]}, design, true);
    ASSERT_EQ(together.size(), 1U);
    EXPECT_TRUE(std::equal(together[0].begin(), together[0].end(), alone.begin(), alone.end(), same));
  }
  EXPECT_TRUE(take_looks_together({}, {}, true).empty());
}

// Resolved at alpha, not at alpha / 2: at 40 pairs p lies between the two levels.
std::vector<double> faintly_slower() {
  NormalNoise noise(30);
  for (;;) {
    std::vector<double> values = noise.draw(40, 0.0033, 0.01);
    const Look last = take_looks({values}, {}, false).back();
    if (last.pairs == 40 && last.p > 0.021 && last.p < 0.030) return values;
  }
}

TEST(LooksTogether, PassOnTheShareOfWhoeverIsResolved) {
  NormalNoise noise(31);
  const std::vector<double> faint = faintly_slower();
  const std::vector<double> clear = noise.draw(24, -0.02, 0.005);
  const std::vector<double> nothing = noise.draw(40, 0, 0.01);
  const auto without = take_looks_together(all_of({faint, nothing}), {}, false);
  EXPECT_EQ(without[0].back().direction, Direction::unresolved);
  EXPECT_DOUBLE_EQ(without[0].back().interval->confidence, 0.975);
  const auto with = take_looks_together(all_of({faint, clear}), {}, false);
  EXPECT_EQ(with[0].back().direction, Direction::slower);
  EXPECT_DOUBLE_EQ(with[0].back().interval->confidence, 0.95);
  EXPECT_EQ(with[1].back().direction, Direction::faster);
  EXPECT_DOUBLE_EQ(with[1].back().interval->confidence, 0.975);
}

TEST(LooksTogether, EquivalenceLeavesNoShare) {
  NormalNoise noise(32);
  Design design;
  design.margin = 0.01;
  const auto looks = take_looks_together(all_of({faintly_slower(), noise.draw(40, 0, 0.002)}), design, false);
  EXPECT_EQ(looks[1].back().direction, Direction::equivalent);
  EXPECT_DOUBLE_EQ(looks[0].back().interval->confidence, 0.975);
}

// 5 % at most for any of four; 4 standard errors are 2.8 %. Each at 5 % would raise about 18 %.
TEST(LooksTogetherSimulation, RarelyRaiseAnyFalseAlarm) {
  NormalNoise noise(33);
  constexpr int runs = 1000;
  int alarms = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<std::vector<double>> candidates;
    for (int i = 0; i < 4; ++i) candidates.push_back(noise.draw(40, 0, 0.01));
    const auto looks = take_looks_together(all_of(candidates), {}, false);
    alarms += std::ranges::any_of(looks, [](const auto& one) { return one.back().direction != Direction::unresolved; });
  }
  EXPECT_LE(alarms, runs * 0.07);
  EXPECT_GE(alarms, runs * 0.02);
}

}  // namespace
}  // namespace infermeter::sequential_test
