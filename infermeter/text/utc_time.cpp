#include "infermeter/text/utc_time.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace infermeter {

std::string utc_time(double seconds_since_1970) {
  constexpr double end_of_9999 = 253402300800.0;
  if (!(seconds_since_1970 >= 0 && seconds_since_1970 < end_of_9999)) return {};
  const std::chrono::milliseconds since(static_cast<std::int64_t>(std::floor(seconds_since_1970 * 1000)));
  const auto days = std::chrono::floor<std::chrono::days>(since);
  const std::chrono::year_month_day date{std::chrono::sys_days(days)};
  const std::chrono::hh_mm_ss time(since - days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

}  // namespace infermeter
