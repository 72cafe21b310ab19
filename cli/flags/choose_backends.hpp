// A model without a back end is measured on every back end here that reads it.
#pragma once

#include <vector>

#include "cli/flags/verbosity.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Fills in draft.backends, where models are given and none is, and says which they are. An error where there is none.
[[nodiscard]] Result<Done> choose_backends(Surroundings& world, PlanDraft& draft, Verbosity verbosity);
// The same among back ends that were asked already.
[[nodiscard]] Result<Done> choose_among(Surroundings& world, PlanDraft& draft, const std::vector<BackendInfo>& backends,
                                        Verbosity verbosity);

}  // namespace infermeter
