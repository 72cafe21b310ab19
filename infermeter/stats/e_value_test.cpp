#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/exp_sinh.hpp>

#include "infermeter/stats/fixtures/paired_reference.hpp"
#include "infermeter/stats/moments.hpp"
#include "infermeter/stats/sequential.hpp"
#include "infermeter/stats/test_normal.hpp"

namespace infermeter::e_value_test {
namespace {

TEST(EValue, IsTheTheoremInSums) {
  for (const auto& row : reference::e_values) {
    EXPECT_NEAR(log_e_value(row.differences), row.log_e, 1e-9);
    EXPECT_NEAR(log_e_value(row.differences, 0.25), row.log_e_quarter, 1e-9);
  }
}

TEST(EValue, IntervalIsWhatItDoesNotReject) {
  for (const auto& row : reference::e_values) {
    const auto interval = e_interval(row.differences, 0.05);
    ASSERT_EQ(interval.has_value(), !std::isnan(row.low)) << row.differences.size();
    if (!interval) continue;
    EXPECT_NEAR(interval->low, row.low, 1e-9);
    EXPECT_NEAR(interval->high, row.high, 1e-9);
  }
}

// n values with mean t / √n and standard deviation 1, so that their t is this one.
std::vector<double> values_with_t(int n, double t) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i;
  const Moments moments = moments_of(values);
  for (double& value : values) value = (value - moments.mean) / std::sqrt(moments.variance) + t / std::sqrt(n);
  return values;
}

// ∫ E(t) f(t) dt with Student's density. An exponent of (n − 1) / 2 would give 0.76 at n = 3, no root before it 2.
TEST(EValue, HasTheMeanOneWithoutADifference) {
  boost::math::quadrature::exp_sinh<double> integrator;
  for (const int n : {3, 4, 8, 40, 200}) {
    const boost::math::students_t density(n - 1);
    const auto integrand = [&](double t) {
      if (t > 1e7) return 0.0;  // E is bounded, and beyond there is less than 1e-13 of the distribution
      return std::exp(log_e_value(values_with_t(n, t))) * boost::math::pdf(density, t);
    };
    EXPECT_NEAR(2 * integrator.integrate(integrand, 1e-10), 1, 1e-6) << n;
  }
}

TEST(EValue, OfValuesWithoutSpreadIsTheLimit) {
  EXPECT_EQ(log_e_value(std::vector<double>{0, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(log_e_value(std::vector<double>(5, 0.1)), 2 * std::log(6));
  EXPECT_NEAR(log_e_value(values_with_t(5, 1e9)), 2 * std::log(6), 1e-9);
  EXPECT_EQ(e_interval(std::vector<double>(5, 0.1), 0.05)->low, 0.1);
  EXPECT_EQ(e_interval(std::vector<double>(5, 0.1), 0.05)->high, 0.1);
}

// (1 + n)^(n − 1) > 1 / α²: four pairs reach 125 of the 400, five 1296.
TEST(EValue, HasAnIntervalFromFivePairsOn) {
  EXPECT_FALSE(e_interval(std::vector<double>{1, 2, 3, 4}, 0.05));
  EXPECT_TRUE(e_interval(std::vector<double>{1, 2, 3, 4, 5}, 0.05));
}

TEST(EValue, ExcludesZeroExactlyWhereItRejects) {
  NormalNoise noise(11);
  for (int run = 0; run < 300; ++run) {
    const std::vector<double> values = noise.draw(static_cast<std::size_t>(5 + run % 30), 0.8);
    const auto interval = e_interval(values, 0.05);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low > 0 || interval->high < 0, log_e_value(values) >= std::log(20)) << run;
  }
}

// Ville: never more than 5 %, however often one looks. t tests at 5 % after each pair would raise 40 % here.
TEST(EValue, RarelyRaisesAFalseAlarmOverTwoHundredLooks) {
  NormalNoise noise(12);
  Design design;
  design.until_resolved = true;
  int alarms = 0;
  constexpr int runs = 1000;
  for (int run = 0; run < runs; ++run) {
    const std::vector<Look> looks = take_looks(noise.draw(202), design, false);
    alarms += looks.back().direction != Direction::unresolved ? 1 : 0;
  }
  EXPECT_LE(alarms, runs * 0.05);
  EXPECT_GE(alarms, runs * 0.01);
}

}  // namespace
}  // namespace infermeter::e_value_test
