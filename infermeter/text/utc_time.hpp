// Moments as text: ISO 8601 in UTC.
#pragma once

#include <string>

namespace infermeter {

// "2026-11-21T11:42:00.250Z"; milliseconds, as that is what times of day are good for. "" outside the years 1970–9999.
[[nodiscard]] std::string utc_time(double seconds_since_1970);

}  // namespace infermeter
