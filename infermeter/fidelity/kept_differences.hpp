// What pictures of differences are drawn from: of every output that is an image, the items that differ most, and how
// often each size of difference occurs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

// |candidate - reference| in steps of a tenth of a decade. What is smaller or larger is in the first or last one.
struct ErrorHistogram {
  static constexpr int lowest_decade = -12, highest_decade = 6, steps = 10;
  std::array<std::uint64_t, std::size_t{highest_decade - lowest_decade} * steps> counts{};
  std::uint64_t equal = 0, non_finite = 0;  // not a finite number in either: not counted by size

  void add(double reference, double candidate);
};

struct KeptItem {
  std::size_t item = 0;
  double max_absolute = 0;  // infinite where only one of the two is a finite number
  Tensor reference, candidate;
};

class KeptDifferences {
 public:
  explicit KeptDifferences(std::size_t items_per_output) : most_(items_per_output) {}

  // The outputs of one data item. Copies what it keeps.
  void add(std::size_t item, std::span<const Value> reference, std::span<const Value> candidate);

  struct Output {
    std::vector<KeptItem> worst;  // the worst first
    ErrorHistogram histogram;     // over all items
  };
  [[nodiscard]] const std::map<std::size_t, Output>& outputs() const { return outputs_; }  // by the output's index

 private:
  std::size_t most_;
  std::map<std::size_t, Output> outputs_;
};

}  // namespace infermeter
