// The dry run: what a plan would do, without doing it.
#pragma once

#include <span>
#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Subjects and processes, how each trial goes, limits, seed, inputs.
[[nodiscard]] std::string describe_settings(const Plan& plan);

// The settings, the estimated time and the order of trials.
[[nodiscard]] std::string describe_plan(const Plan& plan, std::span<const RunRecord> earlier);

// The newest runs of the store of `place`, or none.
[[nodiscard]] std::vector<RunRecord> earlier_runs(const Surroundings& world, const Plan& place);

}  // namespace infermeter
