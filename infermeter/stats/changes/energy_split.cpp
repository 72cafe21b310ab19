#include "infermeter/stats/changes/energy_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

// Sums over pairs: within the part before the split, within the part from it on, and across it.
struct PairSums {
  double before = 0, from = 0, across = 0;
};

// m k / (m + k) · (2 across/(m k) − 2 before/(m (m − 1)) − 2 from/(k (k − 1))), multiplied out.
double energy(const PairSums& sums, std::size_t m, std::size_t k, std::span<const double> reciprocals) {
  const double within = sums.before * static_cast<double>(k) * reciprocals[m - 1] +
                        sums.from * static_cast<double>(m) * reciprocals[k - 1];
  return 2 * (sums.across - within) * reciprocals[m + k];
}

void keep_better(EnergySplit& best, std::size_t index, double q) {
  if (q > best.q) best = {index, q};
}

// How many values of rank r or below were added, and their sum, in O(log n) (Fenwick, "A new data structure for
// cumulative frequency tables", Softw. Pract. Exper. 24 (1994) 327–336).
class SumsByRank {
 public:
  struct Node {
    double count = 0, sum = 0;
  };

  explicit SumsByRank(std::size_t ranks) : nodes_(ranks + 1) {}

  void add(std::uint32_t rank, double value) {
    for (std::size_t i = rank; i < nodes_.size(); i += i & (~i + 1)) {
      nodes_[i].count += 1;
      nodes_[i].sum += value;
    }
  }

  [[nodiscard]] Node up_to(std::uint32_t rank) const {
    Node total;
    for (std::size_t i = rank; i > 0; i &= i - 1) {
      total.count += nodes_[i].count;
      total.sum += nodes_[i].sum;
    }
    return total;
  }

 private:
  std::vector<Node> nodes_;
};

}  // namespace

EnergyScan::EnergyScan(std::span<const double> values, std::size_t least)
    : least_(least),
      values_(values.begin(), values.end()),
      ranks_(values.size()),
      sums_of_distances_(values.size()),
      reciprocals_(values.size() + 1) {
  INFERMETER_CHECK(least >= 2 && values.size() >= 2 * least);
  std::vector<std::uint32_t> ascending(values.size());
  std::iota(ascending.begin(), ascending.end(), 0u);
  std::ranges::stable_sort(ascending, {}, [&](std::uint32_t i) { return values[i]; });
  const double median = values[ascending[values.size() / 2]];
  for (double& value : values_) value -= median;
  const auto n = static_cast<double>(values.size());
  const double total = std::accumulate(values_.begin(), values_.end(), 0.0);
  double below = 0;
  for (std::size_t rank = 0; rank < ascending.size(); ++rank) {
    const double value = values_[ascending[rank]];
    const auto smaller = static_cast<double>(rank);
    ranks_[ascending[rank]] = static_cast<std::uint32_t>(rank + 1);
    sums_of_distances_[ascending[rank]] = (2 * smaller - n) * value + total - 2 * below;
    below += value;
  }
  for (std::size_t i = 1; i < reciprocals_.size(); ++i) reciprocals_[i] = 1 / static_cast<double>(i);
}

EnergySplit EnergyScan::best_split(std::span<const std::uint32_t> order) const {
  return order.size() <= kAllEnds ? best_of_all_ends(order) : best_of_whole_rests(order);
}

EnergySplit EnergyScan::best_of_all_ends(std::span<const std::uint32_t> order) const {
  const std::size_t n = order.size();
  std::vector<double> value(n);
  std::ranges::transform(order, value.begin(), [&](std::uint32_t i) { return values_[i]; });
  std::vector<double> to_earlier(n);  // distances of each value to all before it
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) to_earlier[i] += std::abs(value[j] - value[i]);
  }
  // For the parts [split, end): pairs within, and pairs with what is before the split. At first nothing is before it.
  std::vector<double> from(n + 1), across(n + 1);
  std::partial_sum(to_earlier.begin(), to_earlier.end(), from.begin() + 1);
  EnergySplit best{0, -std::numeric_limits<double>::infinity()};
  double before = 0;
  for (std::size_t split = 1; split + least_ <= n; ++split) {
    // One value moves to the part before the split.
    const double moved = value[split - 1];
    before += to_earlier[split - 1];
    double to_rest = 0;
    for (std::size_t end = split + 1; end <= n; ++end) {
      to_rest += std::abs(value[end - 1] - moved);
      from[end] -= to_rest;
      across[end] += to_rest - to_earlier[split - 1];
    }
    if (split < least_) continue;
    for (std::size_t end = split + least_; end <= n; ++end) {
      keep_better(best, split, energy({before, from[end], across[end]}, split, end - split, reciprocals_));
    }
  }
  return best;
}

EnergySplit EnergyScan::best_of_whole_rests(std::span<const std::uint32_t> order) const {
  const std::size_t n = order.size();
  const double all_pairs = std::accumulate(sums_of_distances_.begin(), sums_of_distances_.end(), 0.0) / 2;
  SumsByRank earlier(n);
  EnergySplit best{0, -std::numeric_limits<double>::infinity()};
  double before = 0;    // pairs before the split
  double with_any = 0;  // distances of the values before the split to all values
  double sum_of_earlier = 0;
  for (std::size_t split = 1; split + least_ <= n; ++split) {
    const std::uint32_t i = order[split - 1];
    const double moved = values_[i];
    const SumsByRank::Node smaller = earlier.up_to(ranks_[i]);
    before += (2 * smaller.count - static_cast<double>(split - 1)) * moved + sum_of_earlier - 2 * smaller.sum;
    with_any += sums_of_distances_[i];
    earlier.add(ranks_[i], moved);
    sum_of_earlier += moved;
    if (split < least_) continue;
    const double across = with_any - 2 * before;
    keep_better(best, split, energy({before, all_pairs - before - across, across}, split, n - split, reciprocals_));
  }
  return best;
}

}  // namespace infermeter
