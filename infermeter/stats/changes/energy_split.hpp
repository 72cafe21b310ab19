// Where a series splits into the two parts that differ most in distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace infermeter {

struct EnergySplit {
  std::size_t index = 0;  // the first value of the second part
  double q = 0;
};

// The split with the largest q = m k / (m + k) · E between the m values before it and k values from it on, where
// E = 2 mean |x − y| − mean |x − x'| − mean |y − y'| over distinct pairs: the energy distance with exponent 1 (Matteson
// & James, "A nonparametric approach for multiple change point analysis of multivariate data", JASA 109 (2014) 334–345,
// §2.1 and 2.2). As there, the second part may end before the series does, so that a bump is compared with what was
// before it and not with itself and what came after.
class EnergyScan {
 public:
  // Up to so many values all ends of the second part are tried, in O(n²); beyond, it is the whole rest, in O(n log n).
  static constexpr std::size_t kAllEnds = 256;

  // Either part holds at least `least` values, 2 or more; there are at least twice as many in all.
  EnergyScan(std::span<const double> values, std::size_t least);

  // The values taken in this order: a permutation of 0 … n − 1.
  [[nodiscard]] EnergySplit best_split(std::span<const std::uint32_t> order) const;

 private:
  [[nodiscard]] EnergySplit best_of_all_ends(std::span<const std::uint32_t> order) const;
  [[nodiscard]] EnergySplit best_of_whole_rests(std::span<const std::uint32_t> order) const;

  std::size_t least_;
  std::vector<double> values_;             // less their median: sums of distances lose no digits
  std::vector<std::uint32_t> ranks_;       // of each value, from 1 on
  std::vector<double> sums_of_distances_;  // of each value to all others
  std::vector<double> reciprocals_;        // 1/i
};

}  // namespace infermeter
