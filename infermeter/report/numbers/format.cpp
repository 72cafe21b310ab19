#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "infermeter/report/numbers/number_text.hpp"

namespace infermeter {
namespace {

struct Unit {
  double size;
  const char* name;
};

constexpr std::array time_units = {Unit{1e-9, "ns"}, Unit{1e-6, "µs"}, Unit{1e-3, "ms"}, Unit{1, "s"}};
constexpr std::array byte_units = {Unit{1, "B"}, Unit{1e3, "kB"}, Unit{1e6, "MB"}, Unit{1e9, "GB"}, Unit{1e12, "TB"}};
constexpr std::array rate_units = {Unit{1, "/s"}, Unit{1e3, "k/s"}, Unit{1e6, "M/s"}, Unit{1e9, "G/s"}};

// The largest unit in which the rounded value is at least 1: 999.6 µs is "1.00 ms".
std::string scaled(double value, std::span<const Unit> units, const char* separator) {
  if (!std::isfinite(value)) return "not known";
  const Unit* unit = &units.front();
  for (const Unit& candidate : units) {
    if (std::fabs(value) >= candidate.size * 0.9995) unit = &candidate;
  }
  return three_digits(value / unit->size) + separator + unit->name;
}

}  // namespace

// The number of decimals is that of the rounded value, so that 9.999 is "10.0".
std::string three_digits(double value) {
  if (value == 0) return "0";
  const auto decimals = [](double of) {
    if (!std::isfinite(of) || of == 0) return 0;  // scaled beyond what a double holds
    const int order = static_cast<int>(std::floor(std::log10(std::fabs(of))));
    return std::clamp(2 - order, 0, 12);
  };
  const int first = decimals(value);
  const double scale = std::pow(10.0, first);
  const double rounded = std::round(value * scale) / scale;
  return fmt::format("{:.{}f}", value, rounded == 0 ? first : decimals(rounded));
}

std::optional<std::string> in_unit_of(std::string_view figure, double value) {
  const std::size_t unit = figure.find_first_not_of("0123456789.-");
  if (unit == std::string_view::npos) return std::nullopt;
  const std::string_view name = figure.substr(figure[unit] == ' ' ? unit + 1 : unit);
  for (const std::span<const Unit> units :
       {std::span<const Unit>(time_units), std::span<const Unit>(byte_units), std::span<const Unit>(rate_units)}) {
    for (const Unit& candidate : units) {
      if (name == candidate.name) return three_digits(value / candidate.size);
    }
  }
  return std::nullopt;
}

std::string plain_number(double value) {
  if (!std::isfinite(value)) return "not known";
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value == 0 ? 0.0 : value);
  const bool is_plain = std::fabs(value) >= 1e-3 && std::fabs(value) < 1e6;
  return is_plain ? three_digits(value) : fmt::format("{:.3g}", value);
}

std::string format_time(double seconds) {
  if (seconds == 0) return "0 s";
  return scaled(seconds, time_units, " ");
}

std::string format_bytes(double bytes) {
  // Below a kilobyte there are whole bytes only.
  if (std::fabs(bytes) < 999.5) return fmt::format("{:.0f} B", bytes == 0 ? 0.0 : bytes);
  return scaled(bytes, byte_units, " ");
}

std::string format_rate(double per_second) {
  return scaled(per_second, rate_units, std::fabs(per_second) < 999.5 ? "" : " ");
}

std::string format_ratio(double ratio) { return std::isfinite(ratio) ? three_digits(ratio) + "x" : "not known"; }

std::string format_share(double share) { return three_digits(100 * share) + " %"; }

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "not known";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds > 1e15) return "for ever";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> parts = {
      {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (whole < parts[i].first) continue;
    const std::int64_t rest = whole % parts[i].first / parts[i + 1].first;
    const std::string first = fmt::format("{} {}", whole / parts[i].first, parts[i].second);
    return rest == 0 ? first : fmt::format("{} {} {}", first, rest, parts[i + 1].second);
  }
  return fmt::format("{} s", whole);
}

}  // namespace infermeter
