#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "infermeter/plan/plan.hpp"

namespace infermeter::order_trials_test {
namespace {

Plan ordered(std::size_t subjects, int processes, std::uint64_t seed, bool compared = false) {
  Plan plan{.subjects = std::vector<Subject>(subjects), .processes = processes, .seed = seed};
  if (compared) plan.question.emplace();
  order_trials(plan);
  return plan;
}

// Of `subject` in each block, from 0.
std::vector<std::size_t> places(const Plan& plan, std::size_t subject) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < plan.order.size(); ++i) {
    if (plan.order[i].subject == subject) found.push_back(i % plan.subjects.size());
  }
  return found;
}

TEST(OrderTrials, EveryBlockIsAPermutationOfTheSubjects) {
  EXPECT_TRUE(rc::check([] {
    const auto subjects = static_cast<std::size_t>(*rc::gen::inRange(1, 30));
    const int processes = *rc::gen::inRange(1, 8);
    const Plan plan = ordered(subjects, processes, *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<bool>());
    RC_ASSERT(plan.order.size() == subjects * static_cast<std::size_t>(processes));
    for (std::size_t block = 0; block < static_cast<std::size_t>(processes); ++block) {
      std::vector<bool> seen(subjects);
      for (std::size_t i = 0; i < subjects; ++i) {
        const PlannedTrial& trial = plan.order[block * subjects + i];
        RC_ASSERT(trial.process == static_cast<int>(block));
        seen.at(trial.subject) = true;
      }
      RC_ASSERT(std::ranges::all_of(seen, [](bool s) { return s; }));
    }
  }));
}

TEST(OrderTrials, MoreProcessesBeginWithTheSameTrials) {
  for (const bool compared : {false, true}) {
    const Plan few = ordered(7, 3, 42, compared);
    const Plan many = ordered(7, 9, 42, compared);
    for (std::size_t i = 0; i < few.order.size(); ++i) EXPECT_EQ(few.order[i].subject, many.order[i].subject);
  }
}

TEST(OrderTrials, IsTheSameOnEveryMachine) {
  const auto order_of = [](bool compared) {
    std::vector<std::size_t> order;
    const Plan plan = ordered(4, 3, 1, compared);
    for (const PlannedTrial& trial : plan.order) order.push_back(trial.subject);
    return order;
  };
  EXPECT_EQ(order_of(true), (std::vector<std::size_t>{3, 0, 2, 1, 3, 1, 2, 0, 3, 2, 0, 1}));
  EXPECT_EQ(order_of(false), (std::vector<std::size_t>{3, 1, 0, 2, 1, 2, 3, 0, 2, 0, 1, 3}));
}

TEST(OrderTrials, EachSubjectHasEachPlaceOfABlockEquallyOften) {
  EXPECT_TRUE(rc::check([] {
    const auto subjects = static_cast<std::size_t>(*rc::gen::inRange(1, 12));
    const Plan plan = ordered(subjects, static_cast<int>(2 * subjects), *rc::gen::arbitrary<std::uint64_t>());
    for (std::size_t subject = 0; subject < subjects; ++subject) {
      const auto found = places(plan, subject);
      for (std::size_t place = 0; place < subjects; ++place) RC_ASSERT(std::ranges::count(found, place) == 2);
    }
  }));
}

TEST(OrderTrials, EachOfAnEvenNumberFollowsEachOtherOnce) {
  const Plan plan = ordered(6, 6, 11);
  std::vector<std::pair<std::size_t, std::size_t>> neighbours;
  for (std::size_t i = 0; i + 1 < plan.order.size(); ++i) {
    if ((i + 1) % 6 != 0) neighbours.emplace_back(plan.order[i].subject, plan.order[i + 1].subject);
  }
  std::ranges::sort(neighbours);
  EXPECT_EQ(std::ranges::adjacent_find(neighbours), neighbours.end());
}

TEST(OrderTrials, SquaresOfOtherSeedsBeginWithOtherSubjects) {
  std::vector<int> first(4);
  for (std::uint64_t seed = 0; seed < 400; ++seed) ++first[ordered(4, 1, seed).order[0].subject];
  for (const int count : first) EXPECT_NEAR(count, 100, 35);
}

// What the signed-rank test of a comparison rests on.
TEST(OrderTrials, CoinsOfAComparisonAreFairAndIndependent) {
  constexpr int kPairs = 40'000;
  const Plan plan = ordered(2, kPairs, 3, true);
  const auto coins = places(plan, 0);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(coins, std::size_t{0})), kPairs / 2, 400);  // 4 sigma
  for (const std::size_t lag : {1U, 2U, 3U, 4U}) {
    int same = 0;
    for (std::size_t i = lag; i < coins.size(); ++i) same += coins[i] == coins[i - lag] ? 1 : 0;
    EXPECT_NEAR(same, kPairs / 2, 400) << lag;
  }
}

TEST(OrderTrials, NeighbouringSeedsAndBlocksHaveNothingInCommon) {
  std::vector<std::vector<std::size_t>> blocks;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Plan plan = ordered(20, 20, seed, true);
    for (std::size_t b = 0; b < 20; ++b) {
      std::vector<std::size_t> block;
      for (std::size_t i = 0; i < 20; ++i) block.push_back(plan.order[b * 20 + i].subject);
      blocks.push_back(std::move(block));
    }
  }
  std::ranges::sort(blocks);
  EXPECT_EQ(std::ranges::adjacent_find(blocks), blocks.end());
}

// Chi-square over all 120 permutations of five subjects, 60,000 draws: 119 degrees of freedom, mean 119, standard
// deviation 15.4. The tempting "swap each with any" shuffle gives over 1,000 here; a right one stays below 180 (4
// sigma).
TEST(OrderTrials, EveryPermutationIsAsLikelyAsEveryOther) {
  constexpr std::size_t kSubjects = 5;
  constexpr int kDraws = 60'000;
  Plan plan{.subjects = std::vector<Subject>(kSubjects), .processes = 10'000};
  plan.question.emplace();
  std::vector<int> counts(3125);
  for (std::uint64_t seed = 0; seed < kDraws / 10'000; ++seed) {
    plan.seed = seed;
    order_trials(plan);
    for (std::size_t block = 0; block < 10'000; ++block) {
      std::size_t code = 0;
      for (std::size_t i = 0; i < kSubjects; ++i) code = code * kSubjects + plan.order[block * kSubjects + i].subject;
      ++counts[code];
    }
  }
  double chi_square = 0;
  int seen = 0;
  const double expected = kDraws / 120.0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++seen;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_EQ(seen, 120);
  EXPECT_LT(chi_square, 180);
  EXPECT_GT(chi_square, 60);  // nor too even to be random
}

}  // namespace
}  // namespace infermeter::order_trials_test
