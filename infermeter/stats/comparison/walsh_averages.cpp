#include "infermeter/stats/comparison/walsh_averages.hpp"

#include <algorithm>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {

WalshAverages::WalshAverages(std::span<const double> values) : sorted_(values.begin(), values.end()) {
  std::ranges::sort(sorted_);
}

void WalshAverages::add(double value) { sorted_.insert(std::ranges::upper_bound(sorted_, value), value); }

// No row ends behind the one before it.
std::size_t WalshAverages::up_to(double bound) const {
  std::size_t count = 0, end = sorted_.size();
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    while (end > i && !(average(i, end - 1) <= bound)) --end;
    if (end <= i) break;
    count += end - i;
  }
  return count;
}

// The first j from i on with an average above the bound: rounding keeps the order.
std::size_t WalshAverages::first_above(std::size_t i, double bound) const {
  const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(i);
  const auto found =
      std::partition_point(begin, sorted_.end(), [&](double other) { return (sorted_[i] + other) / 2 <= bound; });
  return static_cast<std::size_t>(found - sorted_.begin());
}

// What is between the bounds at the end holds both, but for the rare case that a bound falls between them.
std::pair<double, double> WalshAverages::smallest(std::size_t k, std::size_t l) const {
  INFERMETER_CHECK(k <= l && l <= k + 1 && l < size());
  double low = sorted_.front(), high = sorted_.back();
  std::size_t below = up_to(low), within = size();
  if (l < below) return {low, low};
  if (k < below) return {low, smallest(l)};
  while (within - below > 2 * sorted_.size()) {
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
    left = unsorted();
    below = 0;
  }
  const auto first = left.begin() + static_cast<std::ptrdiff_t>(k - below);
  std::ranges::nth_element(left, first);
  // What is left behind the k-th is not below it.
  return {*first, k == l ? *first : *std::min_element(first + 1, left.end())};
}

std::vector<double> WalshAverages::unsorted() const {
  std::vector<double> averages;
  averages.reserve(size());
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    for (std::size_t j = i; j < sorted_.size(); ++j) averages.push_back(average(i, j));
  }
  return averages;
}

}  // namespace infermeter
