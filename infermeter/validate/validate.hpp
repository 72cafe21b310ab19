// validate: does one subject answer as another one does? A front door of the library; infermeter.hpp includes it.
#pragma once

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/run/check.hpp"
#include "infermeter/run/run.hpp"
#include "infermeter/run/trial_failure.hpp"
#include "infermeter/validate/request.hpp"
#include "infermeter/validate/texts.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

// What is wrong with the request, as far as can be known before anything runs (check_run).
[[nodiscard]] RunCheck check_validation(const ValidationRequest& request, const RunContext& context);

// Runs both subjects, each in fresh worker processes, on the same inputs, part by part, and compares what they answer;
// the baseline runs on the first items once more, and no tolerance is below what it then differs from itself by.
// Errors: what was asked for makes no sense; a trial that did not end well (trial_failure).
[[nodiscard]] Result<Validation> validate(const ValidationRequest& request, const RunContext& context);

}  // namespace infermeter
