#include "infermeter/report/report.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "infermeter/report/forms/document.hpp"
#include "infermeter/report/forms/renderers.hpp"
#include "infermeter/text/nearest.hpp"

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

std::string render(const RunRecord& record, const Verdict& verdict, Format format, const RenderOptions& options) {
  switch (format) {
    case Format::table: return render_table(record, verdict, options);
    case Format::json: return render_json(record, verdict, options);
    case Format::csv: return render_csv(record, verdict);
    case Format::markdown: return render_markdown(record, verdict);
    case Format::html: return render_html(run_part(record, verdict, options));
  }
  return {};
}

}  // namespace infermeter
