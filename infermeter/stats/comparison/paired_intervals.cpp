#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
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

// Of n values the averages of each with itself and each other are as many as n (n + 1) / 2. One of a given rank is
// found without making them all: halving keeps it between two bounds until few are left there (as Johnson & Mizoguchi,
// "Selecting the Kth element in X + Y", SIAM J. Comput. 7 (1978) 2, by other bounds).
class WalshAverages {
 public:
  explicit WalshAverages(std::span<const double> values) : sorted_(values.begin(), values.end()) {
    std::ranges::sort(sorted_);
  }

  [[nodiscard]] std::size_t size() const { return sorted_.size() * (sorted_.size() + 1) / 2; }

  // The k-th smallest, k from 0.
  [[nodiscard]] double smallest(std::size_t k) const { return smallest(k, k).first; }

  // The k-th and the l-th smallest, two neighbours or one: what is between the bounds at the end holds both, but for
  // the rare case that a bound falls between them.
  [[nodiscard]] std::pair<double, double> smallest(std::size_t k, std::size_t l) const {
    INFERMETER_CHECK(k <= l && l <= k + 1);
    double low = sorted_.front(), high = sorted_.back();
    std::size_t below = up_to(low), within = size();
    if (l < below) return {low, low};
    if (k < below) return {low, smallest(l)};
    while (within - below > 4 * sorted_.size()) {
      const double middle = low + (high - low) / 2;
      if (!(low < middle && middle < high)) break;  // neighbours
      const std::size_t count = up_to(middle);
      if (k < count && count <= l) return {smallest(k), smallest(l)};
      (count > k ? high : low) = middle;
      (count > k ? within : below) = count;
    }
    std::vector<double> left;
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      for (std::size_t j = first_above(i, low); j < sorted_.size() && average(i, j) <= high; ++j) {
        left.push_back(average(i, j));
      }
    }
    if (l - below >= left.size()) {  // not all of them are finite
      left = unsorted_walsh_averages(sorted_);
      below = 0;
    }
    const double first = order_statistic(left, k - below);
    // What is left behind the k-th is not below it.
    return {first,
            k == l ? first : *std::min_element(left.begin() + static_cast<std::ptrdiff_t>(l - below), left.end())};
  }

 private:
  [[nodiscard]] double average(std::size_t i, std::size_t j) const { return (sorted_[i] + sorted_[j]) / 2; }

  // The first j from i on with an average above the bound: rounding keeps the order.
  [[nodiscard]] std::size_t first_above(std::size_t i, double bound) const {
    const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(i);
    const auto found =
        std::partition_point(begin, sorted_.end(), [&](double other) { return (sorted_[i] + other) / 2 <= bound; });
    return static_cast<std::size_t>(found - sorted_.begin());
  }

  // How many averages are not above the bound. No row ends behind the one before it.
  [[nodiscard]] std::size_t up_to(double bound) const {
    std::size_t count = 0, end = sorted_.size();
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      while (end > i && !(average(i, end - 1) <= bound)) --end;
      if (end <= i) break;
      count += end - i;
    }
    return count;
  }

  std::vector<double> sorted_;
};

}  // namespace

std::size_t signed_ranks_within(std::size_t n, double tail) {
  if (n > kMostExactSignedRanks) return approximate_signed_ranks_within(static_cast<double>(n), tail);
  return exact_signed_ranks_within(static_cast<int>(n), tail);
}

std::vector<double> unsorted_walsh_averages(std::span<const double> values) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
  }
  return averages;
}

std::vector<double> walsh_averages(std::span<const double> values) {
  std::vector<double> averages = unsorted_walsh_averages(values);
  std::ranges::sort(averages);
  return averages;
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
