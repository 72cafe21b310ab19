#include "cli/flags/choose_backends.hpp"

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/models/cache.hpp"
#include "infermeter/run/choose_backends.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

Result<Done> choose_backends(Surroundings& world, PlanDraft& draft, Verbosity verbosity) {
  if (draft.models.empty() || !draft.backends.empty()) return Done{};
  INFERMETER_TRY(const Launcher launcher, find_launcher(draft.plan.backend_path));
  const auto found =
      probe_backends(launcher, {.sandbox = draft.plan.sandbox, .interrupt = world.interrupt, .cache = default_cache()});
  if (look_at_interrupts(world.interrupt) != 0) return worker_error("interrupted: nothing was measured");
  INFERMETER_TRY(ChosenBackends chosen, backends_that_read(draft.models, found));
  draft.backends = std::move(chosen.names);
  if (verbosity != Verbosity::quiet && !chosen.note.empty()) world.err << chosen.note << '\n';
  return Done{};
}

}  // namespace infermeter
