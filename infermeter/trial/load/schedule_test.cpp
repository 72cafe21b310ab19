#include "infermeter/trial/load/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace infermeter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LoadShape open_loop(const std::string& rate, const std::string& arrivals) {
  Pairs load{{"arrivals", arrivals}};
  if (!rate.empty()) load.emplace_back("rate", rate);
  return load_shape_from_pairs(load).value();
}

std::vector<double> first(const LoadShape& shape, std::size_t count, std::uint64_t seed = 1) {
  Schedule schedule(shape, seed);
  std::vector<double> times;
  while (times.size() < count) times.push_back(schedule.next().value());
  return times;
}

std::vector<double> gaps_of(const std::vector<double>& times) {
  std::vector<double> gaps{times.front()};
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  return gaps;
}

// Kolmogorov and Smirnov's distance, times the square root of the number; above 1.95 in one of a thousand samples.
double distance(std::vector<double> values, const std::function<double(double)>& cdf) {
  std::ranges::sort(values);
  double largest = 0;
  const auto n = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = cdf(values[i]);
    largest = std::max({largest, at - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - at});
  }
  return largest * std::sqrt(n);
}

double ulps(double ours, double reference) {
  return std::abs(ours - reference) / (std::nextafter(std::abs(reference), INFINITY) - std::abs(reference));
}

TEST(ExactMath, AgreesWithTheStandardLibrary) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-300, 300), small(0.5, 2);
  for (int i = 0; i < 20'000; ++i) {
    const double wide = std::pow(10, exponent(random)), near_one = small(random);
    EXPECT_LE(ulps(exact_log(wide), std::log(wide)), 2) << wide;
    // Near 1 the logarithm is small: what counts is its error against 1.
    EXPECT_NEAR(exact_log(near_one), std::log(near_one), 3e-16) << near_one;
    const double x = exponent(random);
    EXPECT_LE(ulps(exact_exp(x), std::exp(x)), 3) << x;
  }
  EXPECT_EQ(exact_log(1), 0);
  EXPECT_EQ(exact_exp(0), 1);
}

TEST(Schedule, PoissonGapsAreExponential) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto gaps = gaps_of(first(open_loop("40", "poisson"), 20'000, seed));
    EXPECT_LT(distance(gaps, [](double x) { return 1 - std::exp(-40 * x); }), 1.95) << "seed " << seed;
  }
}

// A Gamma distribution of shape 4 is the sum of four exponentials: Erlang's, whose distribution function is known.
TEST(Schedule, GammaGapsHaveTheDistributionAskedFor) {
  const auto erlang = [](double x) {
    const double t = 4 * 40 * x;
    return 1 - std::exp(-t) * (1 + t + t * t / 2 + t * t * t / 6);
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto gaps = gaps_of(first(open_loop("40", "gamma:0.5"), 20'000, seed));
    EXPECT_LT(distance(gaps, erlang), 1.95) << "seed " << seed;
  }
  // Shape 1/4, mean 1/40: P(gap < x) by the standard's incomplete series.
  const auto clumped = [](double x) {
    const double k = 0.25, t = k * 40 * x;
    double term = 1 / k, sum = term;
    for (int n = 1; n < 500; ++n) sum += term *= t / (k + n);
    return std::min(1.0, sum * std::exp(-t + k * std::log(t)) / std::tgamma(k));
  };
  const auto gaps = gaps_of(first(open_loop("40", "gamma:2"), 20'000));
  EXPECT_LT(distance(gaps, clumped), 1.95);
}

TEST(Schedule, ConstantAndBursts) {
  EXPECT_THAT(first(open_loop("4", "constant"), 4), ElementsAre(0, 0.25, 0.5, 0.75));
  EXPECT_THAT(first(open_loop("4", "burst:3"), 7), ElementsAre(0, 0, 0, 0.75, 0.75, 0.75, 1.5));
  EXPECT_EQ(first(open_loop("3", "constant"), 1'000'001).back(), 1'000'000 / 3.0) << "nothing adds up";
}

double between(const std::vector<double>& times, double from, double to) {
  return static_cast<double>(std::ranges::count_if(times, [=](double t) { return t >= from && t < to; }));
}

TEST(Schedule, RatesThatChange) {
  const auto steps = first(open_loop("", "step:1000:2s/100:10s/2000:1s"), 8000);
  EXPECT_NEAR(between(steps, 0, 2), 2000, 5 * std::sqrt(2000));
  EXPECT_NEAR(between(steps, 2, 12), 1000, 5 * std::sqrt(1000));
  EXPECT_NEAR(between(steps, 12, 14), 4000, 5 * std::sqrt(4000)) << "the last step continues";
  const auto ramp = first(open_loop("", "ramp:100:1100:10s"), 12'000);
  EXPECT_NEAR(between(ramp, 0, 5), 1750, 5 * std::sqrt(1750));
  EXPECT_NEAR(between(ramp, 5, 10), 4250, 5 * std::sqrt(4250));
  EXPECT_NEAR(between(ramp, 10, 15), 5500, 5 * std::sqrt(5500));
  const auto down = first(open_loop("", "ramp:1100:100:10s"), 6200);
  EXPECT_NEAR(between(down, 0, 5), 4250, 5 * std::sqrt(4250));
  EXPECT_TRUE(std::ranges::is_sorted(down));
}

// The same on every platform, compiler and optimisation.
TEST(Schedule, TheSameSeedHasTheSameBits) {
  EXPECT_EQ(first(open_loop("40", "poisson"), 100), first(open_loop("40", "poisson"), 100));
  EXPECT_NE(first(open_loop("40", "poisson"), 1), first(open_loop("40", "poisson"), 1, 2));
  EXPECT_EQ(first(open_loop("1", "poisson"), 1000).back(), 0x1.06f8b982d0a51p+10);
  EXPECT_EQ(first(open_loop("1", "gamma:2"), 1000).back(), 0x1.f8e35aa9d8b67p+9);
  EXPECT_EQ(first(open_loop("", "ramp:10:100:5s"), 1000).back(), 0x1.989a870dd7dd7p+3);
}

TEST(Schedule, ATraceEnds) {
  const std::vector<double> trace{0.5, 1.5};
  Schedule schedule(open_loop("", "trace.csv"), 1, trace);
  EXPECT_EQ(schedule.next(), 0.5);
  EXPECT_EQ(schedule.next(), 1.5);
  EXPECT_FALSE(schedule.next());
}

}  // namespace
}  // namespace infermeter
