// Dates as people write them, in UTC.
#pragma once

#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// "2026-11-21", "2026-11-21 11:42" or "2026-11-21T11:42:00", with or without a Z at the end: seconds since 1970.
[[nodiscard]] Result<double> date_from_string(std::string_view text);

// "2026-11-21 11:42:00"
[[nodiscard]] std::string utc_text(double seconds_since_1970);

}  // namespace infermeter
