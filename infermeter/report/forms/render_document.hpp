// The HTML page, and the report document that it shows, made of parts. Pure.
#pragma once

#include <span>
#include <string>

#include "infermeter/report/forms/report_part.hpp"

namespace infermeter {

[[nodiscard]] std::string render_document(std::span<const ReportPart> parts, const DocumentHead& head = {});

// The document as one page that opens from disk, offline: its own script and style, and nothing from elsewhere.
[[nodiscard]] std::string render_html(std::span<const ReportPart> parts, const DocumentHead& head = {});
[[nodiscard]] inline std::string render_html(const ReportPart& part) { return render_html(std::span(&part, 1)); }

}  // namespace infermeter
