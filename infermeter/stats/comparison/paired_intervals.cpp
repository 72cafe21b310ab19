#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/comparison/walsh_averages.hpp"
#include "infermeter/stats/distributions/normal.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

// The k-th smallest, k from 0.
double order_statistic(std::vector<double>& values, std::size_t k) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(k));
  return values[k];
}

// How many of the smallest values of W its lower tail holds: the largest k with P(W <= k - 1) <= tail.
std::size_t exact_signed_ranks_within(int n, double tail) {
  std::size_t k = 0;
  double below = 0;
  for (const double probability : signed_rank_distribution(n)) {
    below += probability;
    if (below > tail) break;
    ++k;
  }
  return k;
}

// The same from the normal approximation that signed_rank_p uses: Φ((k − 1 + ½ − mean) / sd) <= tail.
std::size_t approximate_signed_ranks_within(double n, double tail) {
  if (tail <= 0) return 0;
  const double mean = n * (n + 1) / 4;
  const double deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  const double k = std::floor(mean - deviation * normal_tail_quantile(tail) + 0.5);
  return k > 0 ? static_cast<std::size_t>(k) : 0;
}

// Between the k-th smallest and the k-th largest; without a k from 1 on there is none.
std::optional<Interval> between_order_statistics(std::vector<double> values, std::size_t k, double confidence) {
  if (k == 0) return std::nullopt;
  const double low = order_statistic(values, k - 1);
  return Interval{low, order_statistic(values, values.size() - k), confidence};
}

}  // namespace

std::size_t signed_ranks_within(std::size_t n, double tail) {
  if (n > kMostExactSignedRanks) return approximate_signed_ranks_within(static_cast<double>(n), tail);
  return exact_signed_ranks_within(static_cast<int>(n), tail);
}

double hodges_lehmann(std::span<const double> values) {
  INFERMETER_CHECK(!values.empty());
  const WalshAverages averages(values);
  const std::size_t upper = averages.size() / 2;
  const auto [first, second] = averages.smallest(averages.size() % 2 == 1 ? upper : upper - 1, upper);
  return averages.size() % 2 == 1 ? first : (first + second) / 2;
}

std::optional<Interval> hodges_lehmann_interval(std::span<const double> values, double confidence) {
  INFERMETER_CHECK(confidence > 0 && confidence <= 1);
  const std::size_t k = signed_ranks_within(values.size(), (1 - confidence) / 2);
  if (k == 0) return std::nullopt;
  const WalshAverages averages(values);
  return Interval{averages.smallest(k - 1), averages.smallest(averages.size() - k), confidence};
}

std::optional<Interval> sign_interval(std::span<const double> values, double confidence) {
  INFERMETER_CHECK(confidence > 0 && confidence <= 1);
  if (values.empty()) return std::nullopt;
  const boost::math::binomial_distribution<double> signs(static_cast<double>(values.size()), 0.5);
  std::size_t k = 0;
  while (boost::math::cdf(signs, static_cast<double>(k)) <= (1 - confidence) / 2) ++k;
  return between_order_statistics({values.begin(), values.end()}, k, confidence);
}

std::optional<Interval> t_interval(std::span<const double> values, double confidence) {
  INFERMETER_CHECK(confidence > 0 && confidence < 1);
  if (values.size() < 2) return std::nullopt;
  const Moments moments = moments_of(values);
  const auto n = static_cast<double>(moments.count);
  const boost::math::students_t distribution(n - 1);
  const double t = boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
  const double half_width = t * std::sqrt(moments.variance / n);
  return Interval{moments.mean - half_width, moments.mean + half_width, confidence};
}

}  // namespace infermeter
