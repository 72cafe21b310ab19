// Answers: are outputs under load what one inference after the other gives?
//
// Some are kept and compared with an inference of the same data item that was run alone: the last answer of every
// client, when the load is over, and of the whole load the answers to the requests 1, 2, 4, 8, …, which their client
// copies before it takes its next request.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/samples/load/load_record.hpp"

namespace infermeter {

// The largest difference of two elements, as a share of the largest absolute value of the output in `reference`; the
// largest of all outputs. 0: the same bytes. Infinite: other shapes or types, or values that are no numbers in one
// only.
[[nodiscard]] double largest_difference(std::span<const Value> reference, std::span<const Value> answer);

// Of a load that may have any number of requests, some 30: from all of its time, most of them from its begin, when a
// runtime makes what it keeps for each request in flight.
[[nodiscard]] constexpr bool is_kept_answer(std::uint64_t request) { return std::has_single_bit(request + 1); }

class Answers {
 public:
  // At most kMostBytes of them.
  void keep(std::size_t item, ItemValues values);
  void keep(Answers others);
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
