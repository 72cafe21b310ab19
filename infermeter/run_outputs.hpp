// The outputs of a run: each subject's first ones are kept until they have been compared with those of its group's
// first subject, in whichever order the two come.
#pragma once

#include <string_view>
#include <vector>

#include "infermeter/data/data_set.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Are this subject's outputs still wanted? To be compared, or to be held against labels.
[[nodiscard]] bool wants_outputs(const RunRecord& record, std::size_t subject);

// Keeps the outputs of `result`, which came with `trial` from `data`, in the store, compares every pair that is
// complete by now, and tells how right they are; adds to record.outputs and record.accuracy.
[[nodiscard]] Result<Done> take_outputs(Store& store, RunRecord& record, std::size_t subject, const Samples& trial,
                                        const TrialResult& result, const DataSet& data);

// Those that are kept by now, per data item; empty: none.
[[nodiscard]] Result<std::vector<ItemValues>> kept_outputs(Store& store, std::string_view run, std::size_t subject);
// The trial that they came from: the subject's first one that ended well, pilots before others; null: none did.
[[nodiscard]] const Samples* outputs_trial(const RunRecord& record, std::size_t subject);

}  // namespace infermeter
