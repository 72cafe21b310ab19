// validate_recorded: does a model answer as was recorded? A front door of the library; infermeter.hpp includes it.
#pragma once

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/run/run.hpp"
#include "infermeter/validate/request.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

// Runs the plan's one subject on each ONNX test data set (input_*.pb, output_*.pb) that plan.data names, in a fresh
// worker process each, and compares its outputs with those that were recorded. Where no tolerance is asked for, it is
// that of ONNX's own test runner, or that of the executed precision where this is wider. Errors: there is nothing
// recorded; a trial that did not end well.
[[nodiscard]] Result<RecordedValidation> validate_recorded(const Plan& plan, const AskedTolerance& tolerance,
                                                           const RunContext& context);

}  // namespace infermeter
