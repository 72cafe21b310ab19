// Numbers without units.
#pragma once

#include <string>

namespace infermeter {

// Three significant digits without an exponent: 0.0123, 1.82, 11.2, 342, 1234.
[[nodiscard]] std::string three_digits(double value);

// For numbers of any size: counts are whole, what is tiny or huge gets an exponent ("1.5e+20"), no number is "not
// known".
[[nodiscard]] std::string plain_number(double value);

}  // namespace infermeter
