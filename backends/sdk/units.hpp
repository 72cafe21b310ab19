// Values with units, as options are written: 1us, 2ms, 3s; 10kB, 4MiB.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace infermeter {

namespace units {

struct Unit {
  std::string_view name;
  double factor;
};
inline constexpr std::array<Unit, 4> time_units = {{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}};
inline constexpr std::array<Unit, 8> byte_units = {{{"", 1.0},
                                                    {"B", 1.0},
                                                    {"kB", 1e3},
                                                    {"MB", 1e6},
                                                    {"GB", 1e9},
                                                    {"KiB", 1024.0},
                                                    {"MiB", 1048576.0},
                                                    {"GiB", 1073741824.0}}};

inline std::pair<double, std::string_view> number_and_rest(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value))
    throw std::invalid_argument(std::string(text) + " is not a number");
  return {value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

template <std::size_t N>
double scaled(std::string_view text, const std::array<Unit, N>& units, double largest) {
  const auto [value, rest] = number_and_rest(text);
  for (const Unit& unit : units) {
    if (rest != unit.name) continue;
    const double result = value * unit.factor;
    if (result < 0 || result > largest) throw std::invalid_argument(std::string(text) + " is out of range");
    return result;
  }
  throw std::invalid_argument(std::string(text) + " lacks a unit that is known");
}

}  // namespace units

// All throw std::invalid_argument with what is wrong. Nanoseconds to seconds: ns, us, ms, s.
inline double seconds_from(std::string_view text) { return units::scaled(text, units::time_units, 86400.0); }

// B (or nothing), kB, MB, GB, KiB, MiB, GiB.
inline std::uint64_t bytes_from(std::string_view text) {
  return static_cast<std::uint64_t>(units::scaled(text, units::byte_units, 1e15));
}

// Finite.
inline double number_from(std::string_view text) {
  const auto [value, rest] = units::number_and_rest(text);
  if (!rest.empty()) throw std::invalid_argument(std::string(text) + " is not a number");
  return value;
}

inline std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find_first_of(separators);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace infermeter
