// Numbers without units.
#pragma once

#include <string>

namespace infermeter {

// Three significant digits without an exponent: 0.0123, 1.82, 11.2, 342, 1234.
[[nodiscard]] std::string three_digits(double value);

}  // namespace infermeter
