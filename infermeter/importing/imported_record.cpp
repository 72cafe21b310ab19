#include "infermeter/importing/imported_record.hpp"

#include <cmath>

#include "infermeter/run/begin.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/version.hpp"

namespace infermeter {

RunRecord begun_import(const ImportRequest& request) {
  RunRecord record;
  record.created_at = std::floor(wall_clock_s());
  record.id = new_run_id(record.created_at);
  record.environment.infermeter_version = INFERMETER_VERSION;
  record.environment.command = request.command;
  record.environment.virtualization = "not known";  // nothing would be: none
  record.plan.output_dir = request.output_dir;
  record.plan.store = request.store;
  record.plan.compare_outputs = false;
  return record;
}

Result<Done> keep_import(const RunRecord& record) {
  INFERMETER_TRY(auto store, Store::open(record.plan, Store::Mode::write));
  return store.together([&]() -> Result<Done> {
    INFERMETER_TRY_DONE(store.begin_run(record));
    for (const Samples& trial : record.trials) INFERMETER_TRY_DONE(store.add_trial(record.id, trial));
    for (const Samples& trial : record.side_trials) INFERMETER_TRY_DONE(store.add_trial(record.id, trial));
    for (const OperatorProfile& profile : record.profiles) INFERMETER_TRY_DONE(store.add_profile(record.id, profile));
    for (const TrialStacks& stacks : record.stacks) INFERMETER_TRY_DONE(store.add_stacks(record.id, stacks));
    return store.finish_run(record);
  });
}

}  // namespace infermeter
