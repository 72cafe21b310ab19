// How a report is to look.
#pragma once

#include <cstddef>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

enum class Format { table, json, csv, markdown, html };
[[nodiscard]] Result<Format> format_from_string(std::string_view name);

struct RenderOptions {
  bool color = false;
  std::size_t width = 100;     // columns of the terminal; tables fit 80
  bool samples = true;         // JSON: with every iteration
  std::size_t operators = 10;  // of a profile: the slowest so many; tables only
};

}  // namespace infermeter
