// How a report is to look.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// The last four are forms of other tools: report/exchange.
enum class Format { table, json, csv, markdown, html, latex, openmetrics, bencher, google_benchmark };
[[nodiscard]] Result<Format> format_from_string(std::string_view name);
// The same of a report that has some of them only: "a gate has no csv report: --format takes table, json or markdown".
[[nodiscard]] Result<Format> format_among(std::string_view name, std::initializer_list<Format> known,
                                          std::string_view report);
[[nodiscard]] std::string_view to_string(Format format);

struct RenderOptions {
  bool color = false;
  std::size_t width = 100;     // columns of the terminal; tables fit 80
  bool samples = true;         // JSON: with every iteration
  std::size_t operators = 10;  // of a profile: the slowest so many; tables only
};

}  // namespace infermeter
