#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/stats/changes/steady_state.hpp"
#include "infermeter/stats/test_noise.hpp"

namespace infermeter::pelt_test {
namespace {

using Ends = std::vector<std::size_t>;

// The level at i and the size of the noise there, as fixtures/make_pelt_fixture.py has them.
std::pair<double, double> level(const std::string& kind, int i, int n, SplitMix& random, double& walk) {
  if (kind == "step") return {i < n / 3 ? 0.05 : 0.0, 0.01};
  if (kind == "steps") return {0.04 * (3 - 4 * i / n), 0.01};
  if (kind == "line") return {-0.5 * i / n, 0.01};
  if (kind == "ramp") return {0.6 / (1.0 + i / 8.0), 0.01};
  if (kind == "variance") return {0.0, i < n / 2 ? 0.01 : 0.06};
  if (kind == "cycle") return {0.05 * ((i / 25) % 2), 0.01};
  if (kind == "spikes") return {random.uniform() < 0.02 ? 1.0 : 0.0, 0.01};
  if (kind == "constant") return {0.03 * ((i / 20) % 3), (i / 40) % 2 != 0 ? 0.01 : 0.0};
  if (kind == "walk") {
    walk += 0.01 * random.sum_of_twelve();
    return {walk, 0.002};
  }
  return {0.0, 0.01};  // flat, ticks
}

std::vector<double> series(const std::string& kind, int n, std::uint64_t seed) {
  SplitMix random(seed);
  double walk = 0;
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    const auto [middle, size] = level(kind, i, n, random, walk);
    const double value = middle + size * random.sum_of_twelve();
    values.push_back(kind == "ticks" ? std::floor(value * 64.0) / 64.0 : value);
  }
  return values;
}

TEST(Pelt, FindsWhatRupturesFinds) {
  std::ifstream file(std::string(test::source_dir) + "/infermeter/stats/fixtures/pelt.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    std::istringstream fields(line.substr(line.starts_with('!') ? 1 : 0));
    std::string kind;
    int n = 0;
    std::uint64_t seed = 0;
    double factor = 0;
    fields >> kind >> n >> seed >> factor;
    Ends expected;
    for (std::size_t end = 0; fields >> end;) expected.push_back(end);
    EXPECT_EQ(pelt_mean_variance(series(kind, n, seed), factor), expected) << line;
  }
  EXPECT_EQ(lines, 396);
}

TEST(Pelt, EqualValuesAreOneSegment) {
  EXPECT_EQ(pelt_mean_variance(std::vector<double>(500, -6.9)), Ends{500});
  EXPECT_EQ(pelt_mean_variance(std::vector<double>(500, 0.0)), Ends{500});
}

TEST(Pelt, EqualValuesInTwoLevelsAreTwo) {
  std::vector<double> values(60, 1.0);
  values.resize(100, 1.001);
  EXPECT_EQ(pelt_mean_variance(values), (Ends{60, 100}));
}

TEST(Pelt, SpreadBelowTheLeastIsNoEvent) {
  SplitMix random(5);
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(1e-5 * random.normal() * (i < 100 ? 1 : 20));
  EXPECT_EQ(pelt_mean_variance(values), (Ends{100, 200}));
  EXPECT_EQ(pelt_mean_variance(values, 15, 10, 1e-6), Ends{200});
}

TEST(Pelt, SmallSpreadOnALargeMeanSurvives) {
  SplitMix random(6);
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(1e6 + 0.01 * random.normal() + (i < 80 ? 0.1 : 0));
  EXPECT_EQ(pelt_mean_variance(values), (Ends{80, 200}));
}

TEST(Pelt, FewValuesAreOneSegment) {
  EXPECT_EQ(pelt_mean_variance({}), Ends{});
  EXPECT_EQ(pelt_mean_variance(std::vector<double>{4.0}), Ends{1});
  std::vector<double> values(10, 0.0);
  values.resize(19, 5.0);
  EXPECT_EQ(pelt_mean_variance(values), Ends{19});
  values.resize(20, 5.0);
  EXPECT_EQ(pelt_mean_variance(values), (Ends{10, 20}));
}

TEST(Pelt, TwoThousandValuesWithoutAChangeAreOneSegment) {
  SplitMix random(7);
  std::vector<double> values(2000);
  for (double& value : values) value = random.normal();
  EXPECT_EQ(pelt_mean_variance(values), Ends{2000});
}

}  // namespace
}  // namespace infermeter::pelt_test
