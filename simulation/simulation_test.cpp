// The study's short form: the limits that verdicts keep, and that tempting wrong ways do not. Seeds are fixed.
#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/verdict/comparison.hpp"
#include "infermeter/verdict/test_pairs.hpp"
#include "simulation/blocks.hpp"
#include "simulation/comparison.hpp"
#include "simulation/document.hpp"
#include "simulation/methods.hpp"

namespace infermeter::study {
namespace {

using ::testing::HasSubstr;

const Families& families() {
  static const Families five = std::move(five_families(test::replays)).value();
  return five;
}

Effort runs(int count) { return {count, 7, std::max(1, static_cast<int>(std::thread::hardware_concurrency()))}; }

// Each figure with a target keeps it, as far as this number of runs can tell.
void expect_kept(const Block& block) {
  int targets = 0;
  for (const Table& table : block.tables) {
    for (const Figure& figure : table.figures) {
      targets += figure.target.exists() ? 1 : 0;
      EXPECT_FALSE(figure.clearly_missed()) << figure.what << ", " << figure.where << ": " << figure.measured;
    }
  }
  EXPECT_GT(targets, 0);
}

// Beyond a limit by more than the number of runs explains.
bool is_above(const Block& block, double limit, const std::string& what, const std::string& where = "") {
  const Figure* figure = find(block, what, where);
  EXPECT_NE(figure, nullptr) << what << ", " << where;
  return figure != nullptr && figure->interval->low > limit;
}

bool is_below(const Block& block, double limit, const std::string& what, const std::string& where = "") {
  const Figure* figure = find(block, what, where);
  EXPECT_NE(figure, nullptr) << what << ", " << where;
  return figure != nullptr && figure->interval->high < limit;
}

TEST(FalseAlarms, AreWithinTheirLimitAndThoseOfOtherWaysAreNot) {
  const Block block = false_alarms(families(), runs(300));
  expect_kept(block);
  for (const Family& family : families()) {
    EXPECT_TRUE(is_above(block, 0.06, "coin order, every look at 5 %", family.name));
    EXPECT_TRUE(is_above(block, 0.2, "coin order, Mann–Whitney of all iterations", family.name));
    EXPECT_TRUE(is_above(block, 0.2, "coin order, percentile bootstrap of all iterations", family.name));
  }
}

// The coin is what makes drift and the bias of a position harmless.
TEST(FalseAlarms, ComeWithOrdersThatNoCoinDraws) {
  const Comparison disturbed{.drift = 0.05, .odd_even = 0.002};
  const auto alarms = [&](Order order, const auto& alarm) {
    Comparison comparison = disturbed;
    comparison.order = order;
    return wilson_interval(count(runs(1000), "orders",
                                 [&](SplitMix& random) {
                                   const std::vector<int> seated = seats(comparison, random);
                                   return alarm(draw_levels(normal_family(), comparison, seated, random));
                                 }),
                           1000);
  };
  // Signed ranks alone: whoever always runs second has no order effect that could be distinguished from its own.
  const auto looks = [](const std::vector<Times>& levels) {
    return has_direction(take_looks({minus(levels[1], levels[0])}, {}, false));
  };
  const auto welch = [](const std::vector<Times>& levels) { return welch_alarm(levels[0], levels[1]); };
  EXPECT_LT(alarms(Order::coin, looks).low, 0.06);
  EXPECT_GT(alarms(Order::alternating, looks).low, 0.1);
  EXPECT_GT(alarms(Order::in_turn, welch).low, 0.9);
}

TEST(Automatic, IntervalsOfRunsThatEndByWhatTheySeeKeepTheirErrors) { expect_kept(automatic(families(), runs(100))); }

TEST(Tuning, FindsTheBestAndTellsItsGainAndTheLowestOfOneEachDoesNot) {
  const Block block = tuning(families(), runs(60));
  expect_kept(block);
  EXPECT_TRUE(is_below(block, -0.005, "mean error of the gain that the lowest of one process each shows", "normal"));
}

TEST(Power, IsWhatWasPromised) { expect_kept(power(families(), runs(500))); }

TEST(Coverage, IsNominalAndThatOfOtherIntervalsIsNot) {
  const Block block = coverage(families(), runs(500));
  expect_kept(block);
  EXPECT_TRUE(is_below(block, 0.8, "t of all 300 iterations, as if they were independent"));
  EXPECT_TRUE(is_below(block, 0.93, "percentile bootstrap of 10 processes"));
  EXPECT_TRUE(is_below(block, 0.88, "two-level bootstrap of 3 processes"));
}

TEST(UntilResolved, IsValidAtEveryLookAndATTestIsNot) {
  const Block block = open_ended(families(), runs(200));
  expect_kept(block);
  for (const Family& family : families()) {
    EXPECT_TRUE(is_above(block, 0.15, "paired t test at 5 % after every pair", family.name));
  }
}

TEST(Gate, RarelyFailsWhatDidNotChange) {
  const Block block = gate(families(), runs(150));
  expect_kept(block);
  EXPECT_TRUE(is_above(block, 0.03, "one process of each, fail above 2 %", "normal"));
  EXPECT_TRUE(is_above(block, 0.5, "each by itself at 5 %, without a margin", "normal"));
  // And it does find what changed.
  EXPECT_TRUE(is_above(block, 0.95, "3 % slower: fail", "bimodal"));
  EXPECT_TRUE(is_below(block, 0.05, "5 % slower: pass", "replay of mlp"));
}

TEST(History, RarelySeesWhatIsNotThere) { expect_kept(history(runs(400))); }

TEST(WarmUp, IsClassedAndPlaced) { expect_kept(warm_up(runs(200))); }

TEST(Study, IsTheSameAgainAndWithOtherThreads) {
  const Effort one{3, 7, 1};
  const auto text = [&](const Effort& effort) {
    const Families three(families().begin(), families().begin() + 3);
    return document(three, effort, {false_alarms(three, effort), gate(three, effort), history(effort)});
  };
  EXPECT_EQ(text(one), text(one));
  EXPECT_EQ(text(one), text({3, 7, 3}));
  EXPECT_NE(text(one), text({3, 8, 1}));
}

RunRecord record_so_far(const std::vector<std::vector<Times>>& subjects, const std::vector<int>& order,
                        std::size_t pairs) {
  RunRecord record = test::record_with_question(2);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    for (int subject = 0; subject < 2; ++subject) {
      Times times_s = subjects[static_cast<std::size_t>(subject)][pair];
      for (double& time : times_s) time = std::exp(time);
      record.trials.push_back(test::trial_with(subject, static_cast<int>(pair), times_s));
      record.trials.back().position = static_cast<int>(2 * pair) + (order[2 * pair] == subject ? 0 : 1);
    }
  }
  return record;
}

// What the blocks call is what a record of trials is judged by.
TEST(Study, SimulatesWhatTheProductDoes) {
  SplitMix random(5);
  Design design;
  design.margin = std::log1p(Question{}.margin);
  int resolved = 0;
  for (int run = 0; run < 20; ++run) {
    const std::vector<int> order = seats({}, random);
    const auto subjects = draw_iterations(normal_family(), {.effect = 0.01}, order, random);
    const Pairs drawn = pairs_of({levels_of(subjects[0]), levels_of(subjects[1])}, 1, order);
    for (std::size_t pairs = 8; pairs <= 40; pairs += 8) {
      const auto verdict = judge_comparison(record_so_far(subjects, order, pairs), false);
      const std::vector<Look> expected = take_looks(CoinPairs(drawn).first(pairs), design, false);
      ASSERT_EQ(verdict->looks[0].size(), expected.size());
      EXPECT_EQ(verdict->looks[0].back().direction, expected.back().direction);
      EXPECT_NEAR(verdict->looks[0].back().p, expected.back().p, 1e-12);
      EXPECT_NEAR(verdict->looks[0].back().estimate, expected.back().estimate, 1e-12);
      resolved += verdict->resolved && pairs < 40 ? 1 : 0;
    }
  }
  EXPECT_GT(resolved, 5);
}

TEST(Noise, OfAReplayKeepsNeighboursTogether) {
  SplitMix random(3);
  const Family& replayed = families()[3];
  // Processes of the recording are 21.9 % apart, neighbours 17.2 %, and most of them much less.
  std::vector<double> apart;
  for (int i = 0; i < 200; ++i) {
    const Times levels = replayed.levels(random, 2);
    apart.push_back(std::abs(levels[1] - levels[0]));
  }
  std::ranges::nth_element(apart, apart.begin() + 100);
  EXPECT_LT(apart[100], 0.025);
}

TEST(Noise, ThatCannotBeReadIsSaid) {
  const auto missing = replay("none", "/nonexistent/none.csv");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("none.csv"));
}

TEST(Rates, CarryWilsonsInterval) {
  // scipy.stats.binomtest(7, 120).proportion_ci(method="wilson")
  const Interval interval = wilson_interval(7, 120);
  EXPECT_NEAR(interval.low, 0.028541, 1e-6);
  EXPECT_NEAR(interval.high, 0.115526, 1e-6);
  EXPECT_EQ(wilson_interval(0, 100).low, 0);
  EXPECT_GT(wilson_interval(0, 100).high, 0.03);
}

TEST(Document, SaysWhatIsMissed) {
  Block block{.number = 1, .title = "T", .question = "Why?", .text = "Text.", .tables = {}};
  block.tables.push_back({.caption = "C", .figures = {rate("what", "", at_most(0.06), 70, 1000)}, .across = false});
  EXPECT_THAT(markdown_of(block), HasSubstr("| what | ≤ 6 % | 7.0 % | 5.6 … 8.8 | 1,000 | **missed** |"));
  EXPECT_THAT(document({}, {}, {block}), HasSubstr("| [1. T](#1-t) | Why? | 1 | **1** |"));
}

}  // namespace
}  // namespace infermeter::study
