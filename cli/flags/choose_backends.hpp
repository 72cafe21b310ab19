// A model without a back end is measured on every back end here that reads it.
#pragma once

#include "cli/flags/verbosity.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/plan/draft.hpp"

namespace infermeter {

// Fills in draft.backends, where models are given and none is, and says which they are. An error where there is none.
[[nodiscard]] Result<Done> choose_backends(Surroundings& world, PlanDraft& draft, Verbosity verbosity);

}  // namespace infermeter
