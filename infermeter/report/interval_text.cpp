#include "infermeter/report/interval_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace infermeter {
namespace {

constexpr const char* number_characters = "0123456789.+-e";

}  // namespace

std::string with_interval(double value, const std::optional<Interval>& interval, FigureText format) {
  std::string text = format(value);
  if (!interval) return text;
  const std::string low = format(interval->low), high = format(interval->high);
  if (low == high) {
    const double half_width = (interval->high - interval->low) / 2;
    if (half_width == 0) return text + " ±0";
    if (value == 0) return text;
    return fmt::format("{} ±{:.1g} %", text, 100 * std::fabs(half_width / value));
  }
  const auto bare = [&](const std::string& bound) {
    const auto unit = text.find_first_not_of(number_characters);
    const bool same_unit = unit != std::string::npos && bound.ends_with(text.substr(unit));
    const std::string number = same_unit ? bound.substr(0, bound.size() - (text.size() - unit)) : bound;
    return !number.empty() && number.find_first_not_of(number_characters) == std::string::npos ? number : bound;
  };
  return fmt::format("{} [{}, {}]", text, bare(low), bare(high));
}

}  // namespace infermeter
