#pragma once

#include <span>
#include <string>

#include "infermeter/report/forms/report_part.hpp"

namespace infermeter {

// Of the whole document: its own, else its parts' titles, as far as there are few.
[[nodiscard]] std::string document_title(std::span<const ReportPart> parts, const DocumentHead& head);

}  // namespace infermeter
