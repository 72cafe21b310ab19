#include "infermeter/stats/comparison/strata.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace infermeter::strata_test {
namespace {

using Strata = std::vector<std::vector<double>>;

// scipy.stats.kruskal 1.17.1
TEST(Strata, IsSciPysKruskal) {
  EXPECT_NEAR(*strata_differ_p(Strata{{1, 3, 5, 7, 9}, {2, 4, 6, 8, 10}}), 0.6015081344405895, 1e-12);
  EXPECT_NEAR(*strata_differ_p(Strata{{1, 1, 1}, {2, 2, 2}, {2, 2}}), 0.030197383422318501, 1e-12);
  EXPECT_NEAR(*strata_differ_p(Strata{{2.9, 3.0, 2.5, 2.6, 3.2}, {3.8, 2.7, 4.0, 2.4}, {2.8, 3.4, 3.7, 2.2, 2.0}}),
              0.6799647735788936, 1e-12);
}

TEST(Strata, SaysNothingWithoutTwoPlacesOrDifferences) {
  EXPECT_FALSE(strata_differ_p(Strata{}));
  EXPECT_FALSE(strata_differ_p(Strata{{1, 2, 3}, {}}));
  EXPECT_FALSE(strata_differ_p(Strata{{1}, {2}, {3}}));
  EXPECT_FALSE(strata_differ_p(Strata{{4, 4}, {4, 4}}));
  EXPECT_TRUE(strata_differ_p(Strata{{1, 2}, {}, {3}}));
}

// Of 2,000 comparisons of ten pairs on each of four nodes, whose differences vary by 1 %: how often it says, at 5 %,
// that nodes differ where one of them is `apart` from the others.
double said(double apart) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.01);
  constexpr int comparisons = 2000;
  int count = 0;
  for (int i = 0; i < comparisons; ++i) {
    Strata strata(4);
    for (std::size_t node = 0; node < strata.size(); ++node)
      for (int pair = 0; pair < 10; ++pair) strata[node].push_back((node == 0 ? apart : 0) + noise(random));
    if (*strata_differ_p(strata) < 0.05) ++count;
  }
  return static_cast<double>(count) / comparisons;
}

TEST(StrataSimulation, FalseAlarmsAreAsRareAsSaid) { EXPECT_LE(said(0), 0.05); }
TEST(StrataSimulation, AnInteractionOfTwoPercentIsSaid) { EXPECT_GE(said(0.02), 0.9); }

}  // namespace
}  // namespace infermeter::strata_test
