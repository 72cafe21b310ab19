#include "infermeter/stats/comparison/rank_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "infermeter/stats/comparison/mid_ranks.hpp"
#include "infermeter/stats/distributions/normal.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kMostExactPairs = 400;

// In how many of the orders of m and n values U is u, for u = 0 … m n: the coefficients of the Gaussian binomial
// Π_{i=1…m} (1 − q^(n+i)) / (1 − q^i). Its factors are multiplied and divided one by one, all in whole numbers: with
// 400 pairs the largest sum is C(40, 20) = 1.4e11.
std::vector<std::int64_t> orders_by_statistic(std::size_t m, std::size_t n) {
  std::vector<std::int64_t> orders(m * n + 1, 0);
  orders[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t u = orders.size(); u-- > n + i;) orders[u] -= orders[u - n - i];
    for (std::size_t u = i; u < orders.size(); ++u) orders[u] += orders[u - i];
  }
  return orders;
}

double exact_rank_sum_p(std::size_t m, std::size_t n, double statistic) {
  const std::vector<std::int64_t> orders = orders_by_statistic(m, n);
  const auto smaller = static_cast<std::size_t>(std::min(statistic, static_cast<double>(m * n) - statistic));
  std::int64_t tail = 0;
  std::int64_t all = 0;
  for (std::size_t u = 0; u < orders.size(); ++u) {
    all += orders[u];
    if (u <= smaller) tail += orders[u];
  }
  return std::min(1.0, 2 * static_cast<double>(tail) / static_cast<double>(all));
}

// Variance m n / 12 (N + 1 − Σ (t³ − t) / (N (N − 1))), N = m + n (Hollander, Wolfe & Chicken 2014, §4.1).
double approximate_rank_sum_p(double m, double n, double statistic, double ties) {
  const double all = m + n;
  const double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  return std::min(1.0, 2 * normal_tail((std::abs(statistic - m * n / 2) - 0.5) / std::sqrt(variance)));
}

}  // namespace

double rank_sum_p(std::span<const double> first, std::span<const double> second) {
  if (first.empty() || second.empty()) return 1;
  std::vector<double> both(first.begin(), first.end());
  both.insert(both.end(), second.begin(), second.end());
  const MidRanks ranks = mid_ranks(both);
  double sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) sum += ranks.doubled[i] / 2.0;
  const auto m = static_cast<double>(first.size());
  const double statistic = sum - m * (m + 1) / 2;
  const bool exact = !ranks.tied() && first.size() * second.size() <= kMostExactPairs;
  return exact ? exact_rank_sum_p(first.size(), second.size(), statistic)
               : approximate_rank_sum_p(m, static_cast<double>(second.size()), statistic, ranks.ties);
}

}  // namespace infermeter
