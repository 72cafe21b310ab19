#include "infermeter/stats/comparison/coin_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/mid_ranks.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

constexpr double shrinkage = 6;  // of the squared t below which an order effect counts for nothing
constexpr int halvings = 60;

// Twice the ranks of negative values less those of positive ones, added up: -n (n + 1) where all are positive.
double doubled_imbalance(const std::vector<double>& values) {
  std::vector<double> sizes(values.size());
  std::ranges::transform(values, sizes.begin(), [](double value) { return std::abs(value); });
  const MidRanks ranks = mid_ranks(sizes);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) sum += values[i] < 0 ? ranks.doubled[i] : -ranks.doubled[i];
  }
  return sum;
}

// The bound of the interval on one side. `outside` is rejected, `inside` is not.
template <class Rejected>
double bound_between(double outside, double inside, const Rejected& rejected) {
  for (int i = 0; i < halvings; ++i) {
    const double middle = outside + (inside - outside) / 2;
    (rejected(middle) ? outside : inside) = middle;
  }
  return inside;
}

std::optional<Interval> inverted(const CoinPairs& pairs, double confidence) {
  const auto n = static_cast<double>(pairs.size());
  const auto within = static_cast<double>(signed_ranks_within(pairs.size(), (1 - confidence) / 2));
  if (within == 0) return std::nullopt;
  // The smaller sum of ranks is one of the `within` smallest: 0 … within - 1.
  const double least = n * (n + 1) - 4 * (within - 1);
  const auto below = [&](double centre) { return -doubled_imbalance(centred(pairs, centre)) >= least; };
  const auto above = [&](double centre) { return doubled_imbalance(centred(pairs, centre)) >= least; };
  const double middle = coin_estimate(pairs);
  const auto [low, high] = std::ranges::minmax(pairs.differences);
  const double far = 16 * (high - low);
  if (!below(middle - far) || !above(middle + far)) return std::nullopt;
  return Interval{bound_between(middle - far, middle, below), bound_between(middle + far, middle, above), confidence};
}

}  // namespace

double shrunk_order_effect(double effect, double squared_t) {
  return squared_t > shrinkage ? effect * (1 - shrinkage / squared_t) : 0;
}

double order_effect(const CoinPairs& pairs, double centre) {
  if (pairs.order.empty()) return 0;
  INFERMETER_CHECK(pairs.order.size() == pairs.size());
  std::vector<double> second_less_first(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    second_less_first[i] = pairs.order[i] * (pairs.differences[i] - centre);
  }
  const Moments moments = moments_of(second_less_first);
  if (moments.variance == 0) return 0;
  const double squared_t = static_cast<double>(moments.count) * moments.mean * moments.mean / moments.variance;
  return shrunk_order_effect(moments.mean, squared_t);
}

std::vector<double> centred(const CoinPairs& pairs, double centre) {
  std::vector<double> values(pairs.differences.begin(), pairs.differences.end());
  const double effect = order_effect(pairs, centre);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] -= centre;
    if (effect != 0) values[i] -= pairs.order[i] * effect;
  }
  return values;
}

double coin_p(const CoinPairs& pairs) { return signed_rank_p(centred(pairs, 0)); }

double coin_estimate(const CoinPairs& pairs) {
  const double centre = hodges_lehmann(pairs.differences);
  if (order_effect(pairs, centre) == 0) return centre;
  return centre + hodges_lehmann(centred(pairs, centre));
}

std::optional<Interval> coin_interval(const CoinPairs& pairs, double confidence) {
  std::optional<Interval> interval = hodges_lehmann_interval(pairs.differences, confidence);
  if (!interval || pairs.order.empty()) return interval;
  const bool has_effect = order_effect(pairs, interval->low) != 0 || order_effect(pairs, interval->high) != 0;
  if (has_effect) interval = inverted(pairs, confidence);
  if (!interval || (interval->low <= 0 && interval->high >= 0)) return interval;
  if (coin_p(pairs) > 1 - confidence) {
    interval->low = std::min(interval->low, 0.0);
    interval->high = std::max(interval->high, 0.0);
  }
  return interval;
}

}  // namespace infermeter
