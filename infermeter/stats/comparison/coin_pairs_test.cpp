#include "infermeter/stats/comparison/coin_pairs.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/test_noise.hpp"

namespace infermeter::coin_pairs_test {
namespace {

struct Drawn {
  std::vector<double> differences;
  std::vector<int> order;
  [[nodiscard]] CoinPairs pairs() const { return {differences, order}; }
};

// Processes of standard deviation 1 %, the second of a pair slower by `second`.
Drawn draw(SplitMix& random, int pairs, double effect, double second) {
  Drawn drawn;
  for (int pair = 0; pair < pairs; ++pair) {
    const double later_less_earlier = 0.01 * (random.normal() - random.normal()) + second;
    drawn.order.push_back(random.uniform() < 0.5 ? 1 : -1);
    drawn.differences.push_back(drawn.order.back() * later_less_earlier + effect);
  }
  return drawn;
}

TEST(CoinPairs, WithoutAnOrderEffectAreSignedRanks) {
  SplitMix random(1);
  for (int run = 0; run < 50; ++run) {
    const Drawn drawn = draw(random, 20, 0.005, 0);
    if (order_effect(drawn.pairs(), 0) != 0) continue;
    EXPECT_EQ(coin_p(drawn.pairs()), signed_rank_p(drawn.differences));
    EXPECT_EQ(coin_p({drawn.differences}), signed_rank_p(drawn.differences));
    EXPECT_EQ(coin_interval({drawn.differences}, 0.95)->low, hodges_lehmann_interval(drawn.differences, 0.95)->low);
  }
}

TEST(CoinPairs, AreFreedOfAnOrderEffectThatShows) {
  SplitMix random(2);
  const Drawn drawn = draw(random, 40, 0.01, 0.10);
  EXPECT_NEAR(order_effect(drawn.pairs(), coin_estimate(drawn.pairs())), 0.10, 0.01);
  EXPECT_NEAR(coin_estimate(drawn.pairs()), 0.01, 0.008);
  const Interval interval = *coin_interval(drawn.pairs(), 0.95);
  EXPECT_GT(interval.low, 0);
  EXPECT_LT(interval.high - interval.low, 0.02);
  const Interval plain = *hodges_lehmann_interval(drawn.differences, 0.95);
  EXPECT_GT(plain.high - plain.low, 3 * (interval.high - interval.low));
}

// Whatever the coins, every assignment of signs is as likely: of the 2^8 p values, exactly as many lie below a level as
// the level allows.
TEST(CoinPairs, TestIsExactOverAllCoins) {
  SplitMix random(3);
  for (const double second : {0.0, 0.02, 0.2}) {
    std::vector<double> later_less_earlier(8);
    for (double& value : later_less_earlier) value = 0.01 * random.normal() + second;
    for (const double level : {2.0 / 256, 0.05}) {
      int rejected = 0;
      for (unsigned coins = 0; coins < 256; ++coins) {
        Drawn drawn;
        for (unsigned pair = 0; pair < 8; ++pair) {
          drawn.order.push_back((coins >> pair & 1U) != 0 ? 1 : -1);
          drawn.differences.push_back(drawn.order.back() * later_less_earlier[pair]);
        }
        rejected += coin_p(drawn.pairs()) <= level ? 1 : 0;
      }
      EXPECT_LE(rejected, level * 256) << second;
    }
  }
}

TEST(CoinPairsSimulation, IntervalHoldsTheTruthAsOftenAsItSays) {
  SplitMix random(4);
  for (const double second : {0.0, 0.01, 0.03}) {
    constexpr int runs = 1500;
    int held = 0;
    for (int run = 0; run < runs; ++run) {
      const Drawn drawn = draw(random, 16, 0.02, second);
      const auto interval = coin_interval(drawn.pairs(), 0.95);
      held += !interval || (interval->low <= 0.02 && interval->high >= 0.02) ? 1 : 0;
    }
    EXPECT_GE(held, runs * 0.935) << second;
    EXPECT_LE(held, runs * 0.975) << second;
  }
}

TEST(CoinPairs, IntervalHoldsZeroWhereTheTestDoesNotReject) {
  SplitMix random(5);
  for (int run = 0; run < 500; ++run) {
    const Drawn drawn = draw(random, 16, 0.01, run % 2 == 0 ? 0.01 : 0.05);
    const auto interval = coin_interval(drawn.pairs(), 0.95);
    if (!interval || coin_p(drawn.pairs()) <= 0.05) continue;
    EXPECT_LE(interval->low, 0);
    EXPECT_GE(interval->high, 0);
  }
}

struct Outcome {
  double found = 0, pairs = 0;
};

Outcome simulated(double effect, double second, int runs) {
  SplitMix random(6);
  Outcome outcome;
  for (int run = 0; run < runs; ++run) {
    const Drawn drawn = draw(random, 40, effect, second);
    const Look last = take_looks(drawn.pairs(), {}, false).back();
    outcome.found += last.direction == Direction::faster || last.direction == Direction::slower ? 1.0 / runs : 0;
    outcome.pairs += static_cast<double>(last.pairs) / runs;
  }
  return outcome;
}

// 5 % is the aim, 3 standard errors are 1 %. Where it is not slower, Looks.RarelyRaiseAFalseAlarm says the same.
TEST(CoinPairsSimulation, RaiseNoMoreFalseAlarmsWhereTheSecondProcessIsSlower) {
  const double alarms = simulated(0, 0.02, 4000).found;
  EXPECT_LE(alarms, 0.06);
  EXPECT_GE(alarms, 0.03);
}

// Without the adjustment: 33 %, after 37 pairs.
TEST(CoinPairsSimulation, FindAsMuchWhereTheSecondProcessIsSlower) {
  const Outcome plain = simulated(0.0071, 0, 500), ordered = simulated(0.0071, 0.02, 500);
  EXPECT_GT(plain.found, 0.75);
  EXPECT_GT(ordered.found, 0.70);
  EXPECT_LE(simulated(0.0283, 0, 500).pairs, 9.5);
}

}  // namespace
}  // namespace infermeter::coin_pairs_test
