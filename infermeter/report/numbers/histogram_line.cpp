#include "infermeter/report/numbers/histogram_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace infermeter {
namespace {

constexpr double shown_share = 0.95;
constexpr std::array histogram_levels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* empty_cell = "·";

std::vector<double> finite(std::span<const double> values) {
  std::vector<double> kept;
  std::ranges::copy_if(values, std::back_inserter(kept), [](double value) { return std::isfinite(value); });
  return kept;
}

// The smallest value that is not below this share of all; `values` are not empty.
double value_at(std::vector<double>& values, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto place = values.begin() + std::max<std::ptrdiff_t>(rank - 1, 0);
  std::ranges::nth_element(values, place);
  return *place;
}

std::size_t cell_of_value(double value, const HistogramScale& scale, std::size_t cells) {
  if (!(scale.high > scale.low)) return value > scale.high ? cells - 1 : 0;
  const double share = (value - scale.low) / (scale.high - scale.low);
  const double place = std::floor(share * static_cast<double>(cells));
  return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(cells - 1)));
}

}  // namespace

std::optional<HistogramScale> common_scale(std::span<const std::vector<double>> lists) {
  std::optional<HistogramScale> scale;
  for (const auto& list : lists) {
    std::vector<double> values = finite(list);
    if (values.empty()) continue;
    const double low = std::ranges::min(values), high = value_at(values, shown_share);
    scale = scale ? HistogramScale{std::min(scale->low, low), std::max(scale->high, high)} : HistogramScale{low, high};
  }
  return scale;
}

std::string histogram_line(std::span<const double> values, const HistogramScale& scale, std::size_t cells) {
  if (cells == 0) return {};
  std::vector<std::size_t> counts(cells);
  for (const double value : values) {
    if (std::isfinite(value)) ++counts[cell_of_value(value, scale, cells)];
  }
  const std::size_t fullest = std::ranges::max(counts);
  if (fullest == 0) return {};
  std::string text;
  for (const std::size_t count : counts) {
    text +=
        count == 0 ? empty_cell : histogram_levels.at((count * histogram_levels.size() + fullest - 1) / fullest - 1);
  }
  return text;
}

std::size_t count_above(std::span<const double> values, const HistogramScale& scale) {
  return static_cast<std::size_t>(
      std::ranges::count_if(values, [&](double value) { return std::isfinite(value) && value > scale.high; }));
}

}  // namespace infermeter
