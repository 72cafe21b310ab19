// A sentence of a gate file -> Expectation.
#pragma once

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/expectation_draft.hpp"
#include "infermeter/verdict/gate/expectation.hpp"

namespace infermeter {

// Messages point into the file and name the nearest word.
[[nodiscard]] Result<Expectation> parse_expectation(const ExpectationDraft& draft);

}  // namespace infermeter
