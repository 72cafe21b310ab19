// A trial without the process wall: of a back end that the program brings along, in this process.
#pragma once

#include "infermeter/worker/launcher.hpp"
#include "infermeter/worker/profile/python_profile.hpp"
#include "infermeter_backend.h"

namespace infermeter {

// As run_trial, for what cannot be made again in a worker: a live object. The same steps, clock and loop; no limits are
// kept, a crash is this program's, and what is loaded here already counts neither to load time nor to memory before
// loading. The record says so (not_isolated). Interrupted only between steps and iterations. The peak of this process's
// resident set (VmHWM) is reset.
[[nodiscard]] TrialResult run_trial_here(const imb_backend& backend, const TrialJob& job, const TrialHooks& hooks,
                                         const PythonProfileHooks& python = {});

}  // namespace infermeter
