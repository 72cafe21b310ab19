// How a run begins: a new record, or an unfinished one taken up again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/run/check.hpp"
#include "infermeter/run/run_context.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {

// Sortable by time, and different for two runs that begin in the same second: "20261121-114200-3f9a".
[[nodiscard]] std::string new_run_id(double now_s);
// It has that form, and may be the name of a file or folder. Stores may be anybody's.
[[nodiscard]] bool is_run_id(std::string_view id);

// A model per subject: built or found, checked, and in a form that its back end reads.
[[nodiscard]] Result<std::vector<ModelFacts>> resolve_models(const Plan& plan, const RunContext& context);
// The same of what a check has found; its problems are the error.
[[nodiscard]] Result<std::vector<ModelFacts>> resolve_models(const Plan& plan, RunContext context, RunCheck check);
// The same behind check_run, unless context.is_checked.
[[nodiscard]] Result<std::vector<ModelFacts>> checked_models(const Plan& plan, const RunContext& context);

// A run that is in the store, and nobody else's as long as the lock lives.
struct BegunRun {
  RunRecord record;
  RunLock lock;
};

// `store` knows the machine's noise. A record with an id, the machine, the models (built or found, and checked) and the
// order of trials; no trials yet.
[[nodiscard]] Result<BegunRun> new_run(Store& store, Plan plan, const RunContext& context);

// The stored record of `run`, less its interrupted trials, and with its models where they are now. Refuses where the
// plan (unless `plan` has no subjects), a model file, the machine, infermeter's version or a runtime's version is not
// the same: results of two settings never mix.
[[nodiscard]] Result<BegunRun> resumed_run(Store& store, std::string_view run, const Plan& plan,
                                           const RunContext& context);

// Was this trial of the order ended in an earlier session of the run?
[[nodiscard]] bool already_done(const RunRecord& record, const PlannedTrial& planned);

}  // namespace infermeter
