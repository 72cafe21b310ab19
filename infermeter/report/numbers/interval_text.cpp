#include "infermeter/report/numbers/interval_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/number_text.hpp"

namespace infermeter {
namespace {

constexpr const char* number_characters = "0123456789.+-e";
constexpr double widest_shown = 100;  // times the value

}  // namespace

FigureText figure_text(std::string_view unit) {
  if (unit == "s") return format_time;
  if (unit == "bytes") return format_bytes;
  if (unit == "items/s" || unit == "1/s") return format_rate;
  return unit == "share" ? format_share : plain_number;
}

bool is_uninformative(double value, const Interval& interval) {
  return value != 0 && !(interval.high - interval.low <= widest_shown * std::fabs(value));
}

std::string bounds_in_unit_of(std::string_view figure, const Interval& interval, FigureText format) {
  const auto unit = std::min(figure.find_first_not_of(number_characters), figure.size());
  const auto text = [&](double bound) {
    const auto number = in_unit_of(figure, bound);
    return number ? *number + std::string(figure.substr(unit)) : format(bound);
  };
  return fmt::format("{} … {}", text(interval.low), text(interval.high));
}

std::string with_interval(double value, const std::optional<Interval>& interval, FigureText format) {
  std::string text = format(value);
  if (!interval) return text;
  if (is_uninformative(value, *interval)) return text + " [too few to tell]";
  const std::string low = format(interval->low), high = format(interval->high);
  if (low == high) {
    const double half_width = (interval->high - interval->low) / 2;
    if (half_width == 0) return text + " ±0";
    if (value == 0) return text;
    return fmt::format("{} ±{:.1g} %", text, 100 * std::fabs(half_width / value));
  }
  const auto bare = [&](double bound, const std::string& written) {
    const auto unit = text.find_first_not_of(number_characters);
    const bool same_unit = unit != std::string::npos && written.ends_with(text.substr(unit));
    const std::string number = same_unit ? written.substr(0, written.size() - (text.size() - unit)) : written;
    const bool is_number = !number.empty() && number.find_first_not_of(number_characters) == std::string::npos;
    return is_number ? number : in_unit_of(text, bound).value_or(written);
  };
  return fmt::format("{} [{}, {}]", text, bare(interval->low, low), bare(interval->high, high));
}

}  // namespace infermeter
