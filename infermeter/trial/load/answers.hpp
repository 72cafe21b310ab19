// Answers: are outputs under load what one inference after the other gives?
//
// The last answer of every client is kept when the load is over, when it costs nothing, and is compared with an
// inference of the same data item that was run alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/samples/load/load_record.hpp"

namespace infermeter {

// The largest difference of two elements, as a share of the largest absolute value of the output in `reference`; the
// largest of all outputs. 0: the same bytes. Infinite: other shapes or types, or values that are no numbers in one
// only.
[[nodiscard]] double largest_difference(std::span<const Value> reference, std::span<const Value> answer);

class Answers {
 public:
  // At most kMostBytes of them.
  void keep(std::size_t item, ItemValues values);
  // Counts those of `item` into `load` and lets them go.
  void check(std::size_t item, std::span<const Value> reference, LoadRecord& load);

 private:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  struct Answer {
    std::size_t item = 0;
    ItemValues values;
  };
  std::vector<Answer> answers_;
  std::size_t bytes_ = 0;
};

}  // namespace infermeter
