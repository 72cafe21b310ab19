// A figure with its interval as one text.
#pragma once

#include <optional>
#include <string>

#include "infermeter/stats/summary.hpp"

namespace infermeter {

using FigureText = std::string (*)(double);  // format_time, format_bytes, …

// "38.2 ms [37.9, 38.6]": the unit once, as all three are of one size nearly always. Where three digits do not tell the
// bounds apart: "250 ms ±0.2 %"; "3 ±0" where they are the same.
[[nodiscard]] std::string with_interval(double value, const std::optional<Interval>& interval, FigureText format);

}  // namespace infermeter
