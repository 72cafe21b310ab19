#include "infermeter/report/options.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::array formats = {std::pair{"table", Format::table}, std::pair{"json", Format::json},
                                std::pair{"csv", Format::csv}, std::pair{"markdown", Format::markdown},
                                std::pair{"html", Format::html}};

}  // namespace

Result<Format> format_from_string(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [known, format] : formats) {
    if (name == known) return format;
    names.emplace_back(known);
  }
  const auto near = nearest_name(name, names);
  return usage_error(fmt::format("there is no report format '{}'{}: --format takes table, json, csv, markdown or html",
                                 printable(name, 60), near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
}

}  // namespace infermeter
