#include "cli/flags/open_store.hpp"

namespace infermeter {

Result<Store> open_store(const Surroundings& world, const SomeFlags& flags, Store::Mode mode) {
  INFERMETER_TRY(PlanDraft draft, ambient_draft(world));
  INFERMETER_TRY_DONE(flags.apply(draft));
  return Store::open(draft.plan, mode, world.interrupt);
}

}  // namespace infermeter
