#include "infermeter/stats/comparison/sign_bets.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/stats/test_noise.hpp"

namespace infermeter::sign_bets_test {
namespace {

struct Noise {
  std::string name;
  std::function<double(SplitMix&, int)> process;  // of the one that runs so many before
};

// The four of which the t mixture raised up to 8.6 %, and two more.
std::vector<Noise> noises() {
  return {{"normal", [](SplitMix& random, int) { return random.normal(); }},
          {"t3", [](SplitMix& random, int) { return random.t3(); }},
          {"order", [](SplitMix& random, int seat) { return 0.2 * random.normal() + seat % 2; }},
          {"period 4", [](SplitMix& random, int seat) { return 0.1 * random.normal() + (seat % 4 < 2 ? 1 : 0); }},
          {"bimodal", [](SplitMix& random, int) { return random.normal() + (random.uniform() < 0.15 ? 8 : 0); }},
          {"drift", [](SplitMix& random, int seat) { return random.normal() + 0.05 * seat; }}};
}

struct Drawn {
  std::vector<double> differences;
  std::vector<int> order;
};

Drawn draw(const Noise& noise, SplitMix& random, int pairs, double effect) {
  Drawn drawn;
  for (int pair = 0; pair < pairs; ++pair) {
    const double first = noise.process(random, 2 * pair), second = noise.process(random, 2 * pair + 1);
    drawn.order.push_back(random.uniform() < 0.5 ? 1 : -1);
    drawn.differences.push_back(drawn.order.back() * (second - first) + effect);
  }
  return drawn;
}

const Design open_ended{.until_resolved = true};

Look last_look(const Drawn& drawn) { return take_looks({drawn.differences, drawn.order}, open_ended, false).back(); }

// 5 % at most (Ville); 3 standard errors are 1.5 %.
TEST(SignBetsSimulation, RarelyRaiseAFalseAlarmOverTwoHundredLooks) {
  constexpr int runs = 2000;
  for (const Noise& noise : noises()) {
    SplitMix random(41);
    int alarms = 0;
    for (int run = 0; run < runs; ++run) {
      SignBets bets(0);
      const Drawn drawn = draw(noise, random, 202, 0);
      for (std::size_t i = 0; i < drawn.order.size(); ++i) {
        bets.add(drawn.differences[i], drawn.order[i]);
        if (bets.log_e() < std::log(20)) continue;
        ++alarms;
        break;
      }
    }
    EXPECT_LE(alarms, runs * 0.05) << noise.name;
    EXPECT_GE(alarms, runs * 0.01) << noise.name;
  }
}

TEST(SignBets, FindWhatIsThere) {
  SplitMix random(42);
  for (const Noise& noise : noises()) {
    int pairs = 0;
    for (int run = 0; run < 50; ++run) {
      const Look last = last_look(draw(noise, random, 200, 4));
      EXPECT_EQ(last.direction, Direction::slower);
      pairs += last.pairs;
    }
    EXPECT_LE(pairs, 50 * 15) << noise.name;
  }
}

// A fair bet: over both signs of a difference the capital keeps its mean, whatever the sizes and the past.
TEST(SignBets, AreFair) {
  SplitMix random(43);
  for (int run = 0; run < 100; ++run) {
    SignBets before(0);
    for (int i = 0; i < run; ++i) before.add(random.normal(), 0);
    SignBets up = before, down = before;
    const double size = 3 * random.uniform();
    up.add(size, 0);
    down.add(-size, 0);
    EXPECT_NEAR((std::exp(up.log_e()) + std::exp(down.log_e())) / 2 / std::exp(before.log_e()), 1, 1e-12);
  }
}

// Nor do they lose that by the order effect: both ways that the coin may fall have the same second less first.
TEST(SignBets, AreFairWithAnOrderEffect) {
  SplitMix random(44);
  SignBets before(0);
  for (int i = 0; i < 20; ++i) {
    const int coin = random.uniform() < 0.5 ? 1 : -1;
    before.add(coin * (5 + random.normal()), coin);
  }
  SignBets up = before, down = before;
  up.add(5.7, 1);
  down.add(-5.7, -1);
  EXPECT_NEAR((std::exp(up.log_e()) + std::exp(down.log_e())) / 2 / std::exp(before.log_e()), 1, 1e-12);
}

TEST(SignBets, HaveAnIntervalThatExcludesZeroExactlyWhereTheyReject) {
  SplitMix random(45);
  int found = 0;
  for (int run = 0; run < 200; ++run) {
    const Drawn drawn = draw(noises()[static_cast<std::size_t>(run % 3)], random, 12 + run % 20, 0.8);
    const Look last = last_look(drawn);
    const bool decided = last.direction != Direction::unresolved;
    found += decided ? 1 : 0;
    EXPECT_EQ(decided, last.p <= 0.05);
    ASSERT_EQ(last.interval.has_value(), last.pairs >= 7) << run;
    if (!last.interval) continue;
    EXPECT_EQ(decided, last.interval->low > 0 || last.interval->high < 0) << run;
    EXPECT_LE(last.interval->low, last.estimate);
    EXPECT_GE(last.interval->high, last.estimate);
  }
  EXPECT_GT(found, 50);
}

// Six times of seven the same one may have run second: from a centre far out that looks like an effect of the order.
TEST(SignBets, HaveAnIntervalHoweverTheCoinsFell) {
  const std::vector<double> differences{0.029, 0.059, 0.036, 0.115, 0.029, 0.008, 0.031};
  for (int coins = 0; coins < 128; ++coins) {
    std::vector<int> order;
    for (int i = 0; i < 7; ++i) order.push_back((coins >> i) % 2 == 0 ? 1 : -1);
    const auto interval = e_interval({differences, order}, 0.033, 0.05);
    ASSERT_TRUE(interval) << coins;
    EXPECT_GT(interval->low, -0.15) << coins;
    EXPECT_LT(interval->high, 0.3) << coins;
  }
}

OrderEffect effect_of(const std::vector<double>& differences, const std::vector<int>& order) {
  OrderEffect effect;
  for (std::size_t i = 0; i < order.size(); ++i) effect.add(differences[i], order[i]);
  return effect;
}

// r = scipy.stats.linregress(order, differences), t2 = (r.slope / r.stderr)**2; r.slope * (1 - 6 / t2)
TEST(OrderEffect, IsTheShrunkSlopeOfSciPy) {
  EXPECT_NEAR(effect_of({1.9, -1.2, 2.3, 0.4, -2.2, 1.1, 0.3}, {1, -1, 1, 1, -1, 1, -1}).value(), 0.47257344632768344,
              1e-12);
  EXPECT_NEAR(effect_of({1.9, -1.2, 2.3, 0.4, -2.2}, {1, -1, 1, 1, -1}).value(), 0.9706185567010319, 1e-12);
  EXPECT_NEAR(effect_of({1.9, -1.2, 2.3}, {1, -1, 1}).value(), 1.5409090909090866, 1e-12);
  // A true difference is no effect of the order.
  EXPECT_NEAR(effect_of({101.9, 98.8, 102.3}, {1, -1, 1}).value(), 1.5409090909090866, 1e-9);
}

TEST(OrderEffect, IsNoneWhereItCannotBeTold) {
  EXPECT_EQ(OrderEffect().value(), 0);
  EXPECT_EQ(effect_of({5, -5}, {1, -1}).value(), 0);                  // two points are on a line whatever they are
  EXPECT_EQ(effect_of({5, 6, 7, 8}, {1, 1, 1, 1}).value(), 0);        // always the same one first
  EXPECT_EQ(effect_of({1, 1.1, 0.9, 1}, {1, -1, -1, 1}).value(), 0);  // squared t below 6
}

// Before the coins are known, an effect of the order is neither looked for nor taken away.
TEST(SignBets, WithoutCoinsTakeDifferencesAsTheyAre) {
  const std::vector<double> differences{3, -1, 2, 2.5, 3, -1.5, 2};
  const std::vector<int> coins{1, -1, 1, 1, 1, -1, 1}, none(7, 0);
  EXPECT_GT(std::abs(log_e_value({differences, none}) - log_e_value({differences, coins})), 0.1);
  EXPECT_DOUBLE_EQ(log_e_value({differences, none}), log_e_value({differences, {}}));
}

TEST(SignBets, OfEqualDifferencesDecideAfterSevenPairs) {
  const std::vector<double> equal(20, 0.01);
  EXPECT_EQ(take_looks({equal}, open_ended, false).back().pairs, 7);
  EXPECT_EQ(log_e_value({std::vector<double>(5, 0.0)}), 0);
}

}  // namespace
}  // namespace infermeter::sign_bets_test
