// A chart in one line of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace infermeter {

// One character for each value, or for the median of neighbouring ones where there are more than `width`: "▁▂▂█".
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t width);
// The values that it shows.
[[nodiscard]] std::vector<double> condensed(const std::vector<double>& values, std::size_t width);

}  // namespace infermeter
