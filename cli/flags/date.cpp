#include "cli/flags/date.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "infermeter/text/utc_time.hpp"

namespace infermeter {
namespace {

// Digits where `form` has '0', the same character anywhere else.
bool has_form(std::string_view text, std::string_view form) {
  return std::ranges::equal(text, form, [](char c, char wanted) {
    return wanted == '0' ? c >= '0' && c <= '9' : c == wanted || (wanted == 'T' && c == ' ');
  });
}

int digits(std::string_view text, std::size_t begin, std::size_t count) {
  int value = 0;
  for (const char c : text.substr(std::min(begin, text.size()), count)) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

Result<double> date_from_string(std::string_view text) {
  const std::string_view given = text;
  if (text.ends_with('Z') && text.size() > 10) text.remove_suffix(1);
  const bool known =
      has_form(text, "0000-00-00") || has_form(text, "0000-00-00T00:00") || has_form(text, "0000-00-00T00:00:00");
  if (known) {
    const std::chrono::year_month_day date{std::chrono::year(digits(text, 0, 4)),
                                           std::chrono::month(static_cast<unsigned>(digits(text, 5, 2))),
                                           std::chrono::day(static_cast<unsigned>(digits(text, 8, 2)))};
    const int hours = digits(text, 11, 2), minutes = digits(text, 14, 2), seconds = digits(text, 17, 2);
    if (date.ok() && hours < 24 && minutes < 60 && seconds < 60) {
      const auto days = std::chrono::sys_days(date).time_since_epoch();
      return static_cast<double>(days.count()) * 86400 + hours * 3600 + minutes * 60 + seconds;
    }
  }
  return usage_error(
      fmt::format("expected a date such as 2026-11-21 or 2026-11-21T11:42 (UTC), got '{}'", given.substr(0, 60)));
}

std::string utc_text(double seconds_since_1970) {
  const std::string time = utc_time(seconds_since_1970);
  return time.empty() ? "unknown" : fmt::format("{:.10} {:.8}", time, time.substr(11));
}

}  // namespace infermeter
