// The outputs of a run: each subject's first ones are kept until they have been compared with those of its group's
// first subject, in whichever order the two come.
#pragma once

#include <string_view>

#include "infermeter/store/store.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Are this subject's outputs still wanted?
[[nodiscard]] bool wants_outputs(const RunRecord& record, std::size_t subject);

// Keeps the outputs of `result`, which came with `trial`, in the store, and compares every pair that is complete by
// now; adds to record.outputs.
[[nodiscard]] Result<Done> take_outputs(Store& store, RunRecord& record, std::size_t subject, const Samples& trial,
                                        const TrialResult& result);

}  // namespace infermeter
