#include "infermeter/stats/comparison/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/mid_ranks.hpp"
#include "infermeter/stats/distributions/normal.hpp"

namespace infermeter {
namespace {

// P(the sum of those of `ranks` that a fair coin each chooses is w) for w = 0 … most. Counts of 2^200 subsets are far
// from the largest double, those below 2^53 are exact, and adding only what is positive keeps the smallest tails
// accurate.
std::vector<double> sums_of_random_subsets(std::span<const int> ranks, std::int64_t most) {
  std::vector<double> sums(static_cast<std::size_t>(most) + 1, 0.0);
  sums[0] = 1;
  std::size_t reached = 0;
  for (const int rank : ranks) {
    const auto step = static_cast<std::size_t>(rank);
    reached = std::min(reached + step, sums.size() - 1);
    for (std::size_t w = reached; w >= step; --w) sums[w] += sums[w - step];
  }
  const double each = std::ldexp(1.0, -static_cast<int>(ranks.size()));
  for (double& sum : sums) sum *= each;
  return sums;
}

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

struct RankedDifferences {
  std::vector<double> differences;  // none of them 0
  MidRanks ranks;                   // of the absolute values
};

RankedDifferences ranked(std::span<const double> differences) {
  RankedDifferences result;
  std::ranges::copy_if(differences, std::back_inserter(result.differences), [](double d) { return d != 0; });
  std::vector<double> sizes(result.differences.size());
  std::ranges::transform(result.differences, sizes.begin(), [](double d) { return std::abs(d); });
  result.ranks = mid_ranks(sizes);
  return result;
}

// Twice the smaller one of the sums of the ranks of positive and of negative differences.
std::int64_t doubled_statistic(const RankedDifferences& ranked) {
  std::int64_t positive = 0;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < ranked.differences.size(); ++i) {
    total += ranked.ranks.doubled[i];
    if (ranked.differences[i] > 0) positive += ranked.ranks.doubled[i];
  }
  return std::min(positive, total - positive);
}

// Flipping all signs mirrors the distribution, so that both tails are read at its lower end.
double exact_signed_rank_p(const RankedDifferences& ranked, std::int64_t doubled_statistic) {
  std::vector<int> ranks = ranked.ranks.doubled;
  const int unit = ranked.ranks.tied() ? 1 : 2;  // without ties ranks are whole: half as many sums
  for (int& rank : ranks) rank /= unit;
  return std::min(1.0, 2 * sum_of(sums_of_random_subsets(ranks, doubled_statistic / unit)));
}

// Mean n (n + 1) / 4, variance n (n + 1) (2 n + 1) / 24 less Σ (t³ − t) / 48 for ties (Hollander, Wolfe & Chicken 2014,
// §3.1).
double approximate_signed_rank_p(const RankedDifferences& ranked, std::int64_t doubled_statistic) {
  const auto n = static_cast<double>(ranked.differences.size());
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ranked.ranks.ties / 48;
  const double distance = n * (n + 1) / 4 - 0.5 * static_cast<double>(doubled_statistic) - 0.5;
  return std::min(1.0, 2 * normal_tail(distance / std::sqrt(variance)));
}

}  // namespace

double signed_rank_p(std::span<const double> differences) {
  const RankedDifferences some = ranked(differences);
  if (some.differences.empty()) return 1;
  const std::int64_t statistic = doubled_statistic(some);
  const bool exact = some.differences.size() <= kMostExactSignedRanks;
  return exact ? exact_signed_rank_p(some, statistic) : approximate_signed_rank_p(some, statistic);
}

std::vector<double> signed_rank_distribution(int n) {
  INFERMETER_CHECK(n >= 0 && n <= kMostExactSignedRanks);
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 1);
  return sums_of_random_subsets(ranks, n * (n + 1) / 2);
}

}  // namespace infermeter
