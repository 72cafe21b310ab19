#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "infermeter/report/numbers/sparkline.hpp"

namespace infermeter {
namespace {

constexpr std::array sparkline_levels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// Of the values from `begin` to `end`, which are not empty; the upper one of two.
double middle(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

}  // namespace

std::vector<double> condensed(const std::vector<double>& values, std::size_t width) {
  if (values.size() <= width) return values;
  std::vector<double> medians;
  for (std::size_t column = 0; column < width; ++column) {
    const auto at = [&](std::size_t edge) {
      return values.begin() + static_cast<std::ptrdiff_t>(edge * values.size() / width);
    };
    medians.push_back(middle({at(column), at(column + 1)}));
  }
  return medians;
}

std::string sparkline(const std::vector<double>& values, std::size_t width) {
  if (values.empty() || width == 0) return {};
  const auto shown = condensed(values, width);
  const auto [low, high] = std::ranges::minmax(shown);
  std::string text;
  for (const double value : shown) {
    // All the same: neither high nor low.
    const double share = high > low ? (value - low) / (high - low) : 0.4;
    const auto level = static_cast<std::size_t>(std::lround(share * static_cast<double>(sparkline_levels.size() - 1)));
    text += sparkline_levels.at(level);
  }
  return text;
}

}  // namespace infermeter
