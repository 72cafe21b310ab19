// Reports: a record and its verdict as text. The only place that scales units and formats numbers. Pure: the same
// record gives the same bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

enum class Format { table, json, csv, markdown, html };
[[nodiscard]] Result<Format> format_from_string(std::string_view name);

struct RenderOptions {
  bool color = false;
  std::size_t width = 100;     // columns of the terminal; tables fit 80
  bool samples = true;         // JSON: with every iteration
  std::size_t operators = 10;  // of a profile: the slowest so many; tables only
};

[[nodiscard]] std::string render(const RunRecord& record, const Verdict& verdict, Format format,
                                 const RenderOptions& options);

// Single figures, as they appear in every text: "11.2 ms", "1.82x", "97.5 MB". Three significant digits unless asked.
[[nodiscard]] std::string format_time(double seconds);
[[nodiscard]] std::string format_bytes(double bytes);  // decimal units: 1 MB = 10^6 bytes
[[nodiscard]] std::string format_rate(double per_second);
[[nodiscard]] std::string format_ratio(double ratio);
[[nodiscard]] std::string format_duration(double seconds);  // "1 min 20 s"

}  // namespace infermeter
