// The part of a document that is a history.
#pragma once

#include "infermeter/report/forms/report_part.hpp"
#include "infermeter/report/history/history_report.hpp"

namespace infermeter {

[[nodiscard]] ReportPart history_part(const HistoryReport& report);

}  // namespace infermeter
