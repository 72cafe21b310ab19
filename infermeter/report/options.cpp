#include "infermeter/report/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::array formats = {std::pair{"table", Format::table},
                                std::pair{"json", Format::json},
                                std::pair{"csv", Format::csv},
                                std::pair{"markdown", Format::markdown},
                                std::pair{"html", Format::html},
                                std::pair{"latex", Format::latex},
                                std::pair{"openmetrics", Format::openmetrics},
                                std::pair{"bencher", Format::bencher},
                                std::pair{"google-benchmark", Format::google_benchmark}};

std::string format_list(const std::vector<std::string>& names) {
  const auto last = names.end() - 1;
  return fmt::format("{} or {}", fmt::join(names.begin(), last, ", "), *last);
}

}  // namespace

std::string_view to_string(Format format) {
  return std::ranges::find(formats, format, &std::pair<const char*, Format>::second)->first;
}

Result<Format> format_from_string(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [known, format] : formats) {
    if (name == known) return format;
    names.emplace_back(known);
  }
  return usage_error(fmt::format("there is no report format '{}'{}: --format takes {}", printable(name, 60),
                                 did_you_mean(name, names), format_list(names)));
}

Result<Format> format_among(std::string_view name, std::initializer_list<Format> known, std::string_view report) {
  INFERMETER_TRY(const Format format, format_from_string(name));
  if (std::ranges::find(known, format) != known.end()) return format;
  std::vector<std::string> names;
  for (const Format one : known) names.emplace_back(to_string(one));
  return usage_error(fmt::format("{} has no {} report: --format takes {} here{}", report, to_string(format),
                                 format_list(names), format == Format::html ? "; --html FILE writes its page" : ""));
}

}  // namespace infermeter
