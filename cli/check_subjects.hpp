// What can be known to be wrong with a plan before anything runs, on this machine: back ends, their devices, precisions
// and options, each with the nearest name.
#pragma once

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Probes a back end (which loads its runtime in a process of its own) only where a subject asks for other than
// defaults.
[[nodiscard]] Result<Done> check_subjects(const Plan& plan, const Launcher& launcher);

// The sentence for a back end that is not among `names`.
[[nodiscard]] Error unknown_backend(const std::string& name, const std::vector<std::string>& names);

}  // namespace infermeter
