#include "infermeter/stats/comparison/mid_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace infermeter {

MidRanks mid_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  MidRanks ranks{std::vector<int>(values.size()), 0};
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    // Ranks first + 1 … end: twice their mean.
    for (std::size_t i = first; i < end; ++i) ranks.doubled[order[i]] = static_cast<int>(first + 1 + end);
    const auto group = static_cast<double>(end - first);
    ranks.ties += group * group * group - group;
    first = end;
  }
  return ranks;
}

}  // namespace infermeter
