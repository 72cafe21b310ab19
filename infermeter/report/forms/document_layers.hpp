// The part of a document that compares layers.
#pragma once

#include "infermeter/report/forms/report_part.hpp"
#include "infermeter/verdict/layers_record.hpp"

namespace infermeter {

[[nodiscard]] ReportPart layers_part(const LayersRecord& record);

}  // namespace infermeter
