// A histogram on one line of text: how latencies are distributed, in the width of a table's cell.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace infermeter {

// What the cells of a histogram cover, in equal steps. The last one holds what is above `high` as well.
struct HistogramScale {
  double low = 0, high = 0;
};

// One scale for several lists, so that their histograms can be compared with each other: from the smallest value of all
// to the largest of the lists' own 95 % quantiles, since a few extreme values would leave one cell for all the others.
// What is not finite counts for nothing; nullopt: there is nothing else.
[[nodiscard]] std::optional<HistogramScale> common_scale(std::span<const std::vector<double>> lists);

// "▁▃█▅·▁·▁": a character for each cell, as high as its share of the fullest one; "·" is an empty cell, and no other is
// as low as that. Empty where no value is finite.
[[nodiscard]] std::string histogram_line(std::span<const double> values, const HistogramScale& scale,
                                         std::size_t cells);

// How many values are above the scale.
[[nodiscard]] std::size_t count_above(std::span<const double> values, const HistogramScale& scale);

}  // namespace infermeter
