// Ranks with ties: equal values share the mean of the ranks that they take.
#pragma once

#include <span>
#include <vector>

namespace infermeter {

struct MidRanks {
  std::vector<int> doubled;  // twice each rank, in the order of the values: mid ranks are whole or half numbers
  double ties = 0;           // Σ (t³ − t) over groups of t equal values; 0: all differ

  [[nodiscard]] bool tied() const { return ties > 0; }
};

[[nodiscard]] MidRanks mid_ranks(std::span<const double> values);

}  // namespace infermeter
