// A figure with its interval as one text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

using FigureText = std::string (*)(double);  // format_time, format_bytes, …

// By the unit that metrics and figures of loads have: "s", "bytes", "items/s", "1/s", "share"; a number of all others.
[[nodiscard]] FigureText figure_text(std::string_view unit);

// More than a hundred times as wide as the value, as that of two processes can be: its ends tell nothing.
[[nodiscard]] bool is_uninformative(double value, const Interval& interval);

// "11.0 ms … 11.4 ms" in the unit of `figure`, which `format` wrote.
[[nodiscard]] std::string bounds_in_unit_of(std::string_view figure, const Interval& interval, FigureText format);

// "38.2 ms [37.9, 38.6]": all three in one unit, which stands once. Where three digits do not tell the bounds apart:
// "250 ms ±0.2 %"; "3 ±0" where they are the same. "38.2 ms [too few to tell]" where the interval shows nothing.
[[nodiscard]] std::string with_interval(double value, const std::optional<Interval>& interval, FigureText format);

}  // namespace infermeter
