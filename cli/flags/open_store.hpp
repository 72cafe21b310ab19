// The store of verbs that have no plan.
#pragma once

#include "cli/flags/plan_flags.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {

// That which --store and --output-dir, else variables and infermeter.toml, name.
[[nodiscard]] Result<Store> open_store(const Surroundings& world, const SomeFlags& flags, Store::Mode mode);

}  // namespace infermeter
