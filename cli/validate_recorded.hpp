// validate with one subject: a model on recorded inputs, its outputs against the recorded ones.
#pragma once

#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/validate/validate.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// The plan's one subject on every data set of plan.data; prints what was found. The exit code: 0 all agree, 1 not.
[[nodiscard]] Result<int> validate_recorded(Surroundings& world, const Plan& plan, const AskedTolerance& tolerance,
                                            const Launcher& launcher, bool json);

}  // namespace infermeter
