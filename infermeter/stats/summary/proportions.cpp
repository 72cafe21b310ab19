#include "infermeter/stats/summary/proportions.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/binomial.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/distributions/normal.hpp"

namespace infermeter {
namespace {

// φ of the paired table, its numerator drawn towards 0 by half a trial where it is positive: Newcombe's method 10. 0
// where either share is 0 or 1.
double corrected_correlation(double both, double first_only, double second_only, double neither) {
  const double margins = (both + first_only) * (second_only + neither) * (both + second_only) * (first_only + neither);
  if (margins <= 0) return 0;
  double numerator = both * neither - first_only * second_only;
  if (numerator > 0) numerator = std::max(numerator - (both + first_only + second_only + neither) / 2, 0.0);
  return numerator / std::sqrt(margins);
}

// √(a² - 2φab + b²); never of a negative number, as |φ| <= 1, but for rounding.
double squared_and_added(double a, double b, double correlation) {
  return std::sqrt(std::max(a * a - 2 * correlation * a * b + b * b, 0.0));
}

// 2 P(X <= x) - P(X = x), x the smaller of the two counts and X ~ B(x + y, 1/2).
double mid_p(std::uint64_t first_only, std::uint64_t second_only) {
  if (first_only == second_only) return 1;
  const boost::math::binomial_distribution<> fair(static_cast<double>(first_only + second_only), 0.5);
  const auto smaller = static_cast<double>(std::min(first_only, second_only));
  return std::min(2 * cdf(fair, smaller) - pdf(fair, smaller), 1.0);
}

}  // namespace

Interval proportion_interval(std::uint64_t successes, std::uint64_t trials, double confidence) {
  INFERMETER_CHECK(trials >= 1 && successes <= trials);
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double z = normal_tail_quantile((1 - confidence) / 2);
  const double scale = 1 + z * z / n;
  const double centre = (share + z * z / (2 * n)) / scale;
  const double half_width = z / scale * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  // 0 and 1 are limits that rounding would miss.
  return {successes == 0 ? 0 : std::max(centre - half_width, 0.0),
          successes == trials ? 1 : std::min(centre + half_width, 1.0), confidence};
}

PairedProportions compare_paired(std::uint64_t both, std::uint64_t first_only, std::uint64_t second_only,
                                 std::uint64_t neither, double confidence) {
  const std::uint64_t trials = both + first_only + second_only + neither;
  const Interval first = proportion_interval(both + first_only, trials, confidence);
  const Interval second = proportion_interval(both + second_only, trials, confidence);
  const auto e = static_cast<double>(both), f = static_cast<double>(first_only);
  const auto g = static_cast<double>(second_only), h = static_cast<double>(neither);
  const auto n = static_cast<double>(trials);
  const double first_share = (e + f) / n, second_share = (e + g) / n;
  const double correlation = corrected_correlation(e, f, g, h);
  PairedProportions result;
  result.difference = (g - f) / n;
  const double below = squared_and_added(second_share - second.low, first.high - first_share, correlation);
  const double above = squared_and_added(second.high - second_share, first_share - first.low, correlation);
  result.interval = {std::max(result.difference - below, -1.0), std::min(result.difference + above, 1.0), confidence};
  result.p_value = mid_p(first_only, second_only);
  return result;
}

}  // namespace infermeter
