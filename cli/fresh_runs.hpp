// Plans that ask something, and runs of them that a gate looks at.
#pragma once

#include <vector>

#include "cli/surroundings.hpp"
#include "cli/verbosity.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// make_plan, with the metric of its question by its full name.
[[nodiscard]] Result<Plan> asked_plan(const PlanDraft& draft);

// The plan measured `wanted` times, each run stored and written as CSV; newest first. Fewer after an interruption.
[[nodiscard]] Result<std::vector<RunRecord>> fresh_runs(Surroundings& world, const Plan& plan, const Launcher& launcher,
                                                        int wanted, Verbosity verbosity);

}  // namespace infermeter
