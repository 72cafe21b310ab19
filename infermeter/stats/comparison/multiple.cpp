#include <algorithm>
#include <cstddef>
#include <numeric>

#include "infermeter/stats/comparison/sequential.hpp"

namespace infermeter {
namespace {

// Indices from the smallest p to the largest.
std::vector<std::size_t> ascending(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  const std::vector<std::size_t> order = ascending(p);
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto not_smaller = static_cast<double>(p.size() - rank);
    largest = std::max(largest, std::min(1.0, not_smaller * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  const std::vector<std::size_t> order = ascending(p);
  const auto count = static_cast<double>(p.size());
  double smallest = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    smallest = std::min(smallest, count / static_cast<double>(rank) * p[order[rank - 1]]);
    adjusted[order[rank - 1]] = smallest;
  }
  return adjusted;
}

}  // namespace infermeter
