// Numbers without units.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace infermeter {

// Three significant digits without an exponent: 0.0123, 1.82, 11.2, 342, 1234.
[[nodiscard]] std::string three_digits(double value);

// `value` with three significant digits in the unit that `figure` was written in (by format_time, format_bytes,
// format_rate): 0.958 beside "29.3 ms". nullopt: it has none of their units.
[[nodiscard]] std::optional<std::string> in_unit_of(std::string_view figure, double value);

// For numbers of any size: counts are whole, what is tiny or huge gets an exponent ("1.5e+20"), no number is "not
// known".
[[nodiscard]] std::string plain_number(double value);

}  // namespace infermeter
