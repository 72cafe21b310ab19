// The HTML page, and the report document that it shows, made of parts. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "infermeter/report/forms/report_part.hpp"

namespace infermeter {

[[nodiscard]] std::string render_document(std::span<const ReportPart> parts, const DocumentHead& head = {});

// A page among others, which share a script and a style: those are files of the page's own site.
struct PageFrame {
  std::string script, style;  // their addresses, relative to the page
  std::string above, below;   // markup around the report
};

// The document as one page that opens from disk, offline: its own script and style, and nothing from elsewhere.
[[nodiscard]] std::string render_html(std::span<const ReportPart> parts, const DocumentHead& head = {});
[[nodiscard]] std::string render_html(std::span<const ReportPart> parts, const DocumentHead& head,
                                      const PageFrame& frame);
// From the doctype to </head>, of a page of such a site; what it allows is its site's script and style. `more`: markup.
[[nodiscard]] std::string site_page_head(std::string_view title, std::string_view style, std::string_view more = {});
[[nodiscard]] inline std::string render_html(const ReportPart& part) { return render_html(std::span(&part, 1)); }

}  // namespace infermeter
