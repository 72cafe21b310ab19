#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "infermeter/plan/plan.hpp"

namespace infermeter::order_trials_test {
namespace {

Plan ordered(std::size_t subjects, int processes, std::uint64_t seed) {
  Plan plan{.subjects = std::vector<Subject>(subjects), .processes = processes, .seed = seed};
  order_trials(plan);
  return plan;
}

TEST(OrderTrials, EveryBlockIsAPermutationOfTheSubjects) {
  EXPECT_TRUE(rc::check([] {
    const auto subjects = static_cast<std::size_t>(*rc::gen::inRange(1, 30));
    const int processes = *rc::gen::inRange(1, 8);
    const Plan plan = ordered(subjects, processes, *rc::gen::arbitrary<std::uint64_t>());
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
  const Plan few = ordered(7, 3, 42);
  const Plan many = ordered(7, 9, 42);
  for (std::size_t i = 0; i < few.order.size(); ++i) EXPECT_EQ(few.order[i].subject, many.order[i].subject);
}

TEST(OrderTrials, IsTheSameOnEveryMachine) {
  std::vector<std::size_t> order;
  const Plan plan = ordered(4, 3, 1);
  for (const PlannedTrial& trial : plan.order) order.push_back(trial.subject);
  EXPECT_EQ(order, (std::vector<std::size_t>{3, 0, 2, 1, 3, 1, 2, 0, 3, 2, 0, 1}));
}

TEST(OrderTrials, NeighbouringSeedsAndBlocksHaveNothingInCommon) {
  std::vector<std::vector<std::size_t>> blocks;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Plan plan = ordered(20, 20, seed);
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
