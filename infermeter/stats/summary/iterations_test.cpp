#include "infermeter/stats/summary/iterations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/test_noise.hpp"

namespace infermeter::iterations_test {
namespace {

using Pilots = std::vector<std::vector<double>>;

// Processes whose levels have the variance `between`, of AR(1) iterations of the variance `within`.
Pilots pilots_of(std::uint64_t seed, int processes, int iterations, double between, double within, double correlation) {
  SplitMix random(seed);
  Pilots pilots;
  for (int p = 0; p < processes; ++p) {
    const double level = std::sqrt(between) * random.normal();
    double e = random.normal();
    std::vector<double> logs;
    for (int i = 0; i < iterations; ++i) {
      e = correlation * e + std::sqrt(1 - correlation * correlation) * random.normal();
      logs.push_back(level + std::sqrt(within) * e);
    }
    pilots.push_back(logs);
  }
  return pilots;
}

IterationChoice choose(const Pilots& pilots, double process_cost_s, double iteration_cost_s, std::int64_t least = 10) {
  const PilotTimes times{.logs = pilots, .process_cost_s = process_cost_s, .iteration_cost_s = iteration_cost_s};
  return choose_iterations(std::span(&times, 1), least);
}

// x = [3, 1, 4, 1, 5, 9, 2, 6]; d = x - np.mean(x); (d[1:] * d[:-1]).sum() / (d * d).sum()
TEST(Autocorrelation, IsOfLagOne) {
  EXPECT_NEAR(autocorrelation(std::vector<double>{3, 1, 4, 1, 5, 9, 2, 6}), -0.17523640661938533, 1e-14);
  EXPECT_EQ(autocorrelation(std::vector<double>{1, 2}), 0);
  EXPECT_EQ(autocorrelation(std::vector<double>{2, 2, 2, 2}), 0);
  EXPECT_EQ(autocorrelation({}), 0);
}

TEST(Autocorrelation, OfAnAutoregressionIsItsParameter) {
  EXPECT_NEAR(autocorrelation(pilots_of(1, 1, 20000, 0, 1, 0.6)[0]), 0.6, 0.02);
}

// x = [[1, 2, 4, 3, 1], [6, 7, 5, 8, 6], [3, 1, 2, 2, 4]]; w = np.var(x, axis=1, ddof=1).mean()
// b = np.var(np.mean(x, axis=1), ddof=1) - w / 5; the autocorrelations' mean is below 0, and counts as 0;
// np.sqrt(100 / 0.01 * w / b) = 51.87, which the paper rounds up
TEST(Iterations, AreThoseOfKaliberaAndJones) {
  const Pilots pilots = {{1, 2, 4, 3, 1}, {6, 7, 5, 8, 6}, {3, 1, 2, 2, 4}};
  const IterationChoice choice = choose(pilots, 100, 0.01);
  EXPECT_NEAR(choice.within_variance, 1.4333333333333333, 1e-12);
  EXPECT_EQ(choice.autocorrelation, 0);
  EXPECT_NEAR(choice.between_variance, 5.326666666666667, 1e-12);
  EXPECT_EQ(choice.iterations, 52);
}

// The cost of a given precision: (c_process + k c_iteration) times the variance of the mean of k AR(1) iterations,
// σ²/k (1 + 2 Σ (1 − j/k) ρ^j), and of the process.
double price(int k, double between, double within, double correlation, double process_cost) {
  double sum = 1;
  for (int j = 1; j < k; ++j) sum += 2 * (1 - j / static_cast<double>(k)) * std::pow(correlation, j);
  return (process_cost + k) * (between + within / k * sum);
}

int cheapest(double between, double within, double correlation, double process_cost) {
  int best = 1;
  for (int k = 2; k <= 400; ++k) {
    if (price(k, between, within, correlation, process_cost) <
        price(best, between, within, correlation, process_cost)) {
      best = k;
    }
  }
  return best;
}

TEST(Iterations, CostTheLeastForThePrecision) {
  for (const double correlation : {0.0, 0.3, 0.6, 0.8}) {
    const double between = 0.01;
    const double within = 0.02;
    const double process_cost = 500;  // in iterations
    const auto pilots = pilots_of(3, 2000, 100, between, within, correlation);
    const IterationChoice choice = choose(pilots, process_cost, 1);
    // √(1000 g) = 32, 43, 63, 95: without the autocorrelation it would be 32 each time, with g instead of its square
    // root 32, 59, 126, 200.
    const int best = cheapest(between, within, correlation, process_cost);
    EXPECT_NEAR(static_cast<double>(choice.iterations), best, 0.1 * best) << correlation;
    EXPECT_NEAR(choice.autocorrelation, correlation, 0.02) << correlation;
    EXPECT_NEAR(choice.between_variance, between, 0.1 * between) << correlation;
  }
}

TEST(Iterations, VarianceBetweenProcessesIsWithoutThatOfTheirIterations) {
  // The means' variance is 0.075 and 0.125; less T²within / k, without g, 0.05 and 0.1.
  for (const double correlation : {0.0, 0.5}) {
    double sum = 0;
    for (std::uint64_t run = 0; run < 4000; ++run) {
      const auto pilots = pilots_of(run, 5, 40, 0.05, 1, correlation);
      sum += choose(pilots, 1, 1).between_variance;
    }
    // Negative estimates count as 0, so that it is a little too large.
    EXPECT_GT(sum / 4000, 0.045) << correlation;
    EXPECT_LT(sum / 4000, correlation > 0 ? 0.085 : 0.065) << correlation;
  }
}

// Five pilots of 20 iterations each of two subjects; the cost of a precision, over that of the best number.
double mean_price(double between, double process_cost) {
  double best = price(10, between, 1, 0, process_cost);
  for (int k = 11; k <= 200; ++k) best = std::min(best, price(k, between, 1, 0, process_cost));
  double sum = 0;
  constexpr int runs = 2000;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Pilots a = pilots_of(2 * run, 5, 20, between, 1, 0), b = pilots_of(2 * run + 1, 5, 20, between, 1, 0);
    const std::array subjects = {PilotTimes{.logs = a, .process_cost_s = process_cost, .iteration_cost_s = 1},
                                 PilotTimes{.logs = b, .process_cost_s = process_cost, .iteration_cost_s = 1}};
    const auto chosen = static_cast<int>(choose_iterations(subjects).iterations);
    sum += price(chosen, between, 1, 0, process_cost) / best;
  }
  return sum / runs;
}

// With no least T²between 1.27, 1.31, 1.13; each subject for itself and the longer of both 1.42, 1.79, 1.32.
TEST(Iterations, FewPilotsDoNotWasteManyIterations) {
  EXPECT_LT(mean_price(0.25 / 20, 30), 1.15);
  EXPECT_LT(mean_price(1.0 / 20, 30), 1.15);
  EXPECT_LT(mean_price(1.0 / 20, 100), 1.1);
  EXPECT_LT(mean_price(0, 30), 1.6);  // processes that are alike: 1.22
}

TEST(Iterations, OfSubjectsTogetherAreOfTheirSums) {
  const Pilots slow = {{1, 2, 4, 3, 1}, {6, 7, 5, 8, 6}, {3, 1, 2, 2, 4}};
  const Pilots alike = {{1, 2, 1, 2}, {2, 1, 2, 1}, {1, 2, 2, 1}};
  const std::array subjects = {PilotTimes{.logs = slow, .process_cost_s = 90, .iteration_cost_s = 0.01},
                               PilotTimes{.logs = alike, .process_cost_s = 10, .iteration_cost_s = 0.04}};
  // √(100 / 0.05 * (1.43333 + 0.33333) / (5.32667 - 0.33333 / 4)) = 25.96
  EXPECT_EQ(choose_iterations(subjects).iterations, 26);
  const Pilots one = {{1, 2, 3, 4}};
  const std::array with_one = {subjects[0], PilotTimes{.logs = one, .process_cost_s = 9e9, .iteration_cost_s = 1}};
  EXPECT_EQ(choose_iterations(with_one).iterations, choose(slow, 90, 0.01).iterations);
}

TEST(Iterations, AutocorrelationOfShortPilotsIsCorrected) {
  double sum = 0;
  for (std::uint64_t run = 0; run < 400; ++run) {
    sum += choose(pilots_of(run, 5, 30, 1, 1, 0.6), 1, 1).autocorrelation;
  }
  EXPECT_NEAR(sum / 400, 0.6, 0.03);  // 0.49 uncorrected
}

TEST(Iterations, StayWithinTheirBounds) {
  const Pilots pilots = {{1, 2, 4, 3, 1}, {6, 7, 5, 8, 6}, {3, 1, 2, 2, 4}};
  EXPECT_EQ(choose(pilots, 1, 1).iterations, 10);
  EXPECT_EQ(choose(pilots, 1e9, 1).iterations, 200);
  EXPECT_EQ(choose(pilots, 1, 1, 64).iterations, 64);
  EXPECT_EQ(choose(pilots, 1, 1, 299).iterations, 299);
  EXPECT_EQ(choose(pilots, 1e9, 1, 299).iterations, 299);
  EXPECT_EQ(choose(pilots, 1, 1, -5).iterations, 10);
}

TEST(Iterations, AreManyWhereProcessesDoNotDiffer) {
  const Pilots pilots = {{1, 2, 1, 2}, {2, 1, 2, 1}, {1, 2, 2, 1}};
  const IterationChoice choice = choose(pilots, 1, 1);
  EXPECT_EQ(choice.between_variance, 0);
  EXPECT_EQ(choice.iterations, 200);
}

TEST(Iterations, AreFewWhereTheyDoNotDiffer) {
  EXPECT_EQ(choose(Pilots{{1, 1, 1}, {2, 2, 2}}, 100, 0.01).iterations, 10);
  EXPECT_EQ(choose(Pilots{{1, 1, 1}, {1, 1, 1}}, 100, 0.01).iterations, 10);
}

TEST(Iterations, CostsThatAreNoneCountForNothing) {
  const Pilots pilots = {{1, 2, 4, 3, 1}, {6, 7, 5, 8, 6}, {3, 1, 2, 2, 4}};
  const double nan = std::nan("");
  EXPECT_EQ(choose(pilots, 1, 0).iterations, 200);
  EXPECT_EQ(choose(pilots, 0, 1).iterations, 10);
  EXPECT_EQ(choose(pilots, 1, nan).iterations, 200);
  EXPECT_EQ(choose(pilots, -1, -1).iterations, 10);
  EXPECT_EQ(choose(pilots, nan, nan).iterations, 10);
}

TEST(Iterations, OneProcessSaysNothing) {
  EXPECT_EQ(choose(Pilots{}, 100, 0.01).iterations, 10);
  EXPECT_EQ(choose(Pilots{{1, 2, 3, 4}}, 100, 0.01).iterations, 10);
  EXPECT_EQ(choose(Pilots{{1, 2, 3, 4}, {1}, {}}, 100, 0.01, 30).iterations, 30);
}

}  // namespace
}  // namespace infermeter::iterations_test
