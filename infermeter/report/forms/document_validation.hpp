// The part of a document that is a validation.
#pragma once

#include <vector>

#include "infermeter/fidelity/difference_planes.hpp"
#include "infermeter/report/forms/report_part.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

[[nodiscard]] ReportPart validation_part(const Validation& validation,
                                         const std::vector<DifferencePicture>& pictures = {});

}  // namespace infermeter
