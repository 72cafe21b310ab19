// The outputs of a run: each subject's first ones are kept until they have been compared with those of its group's
// first subject, in whichever order the two come.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infermeter/data/data_set.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/run/outputs_at_hand.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Are this subject's outputs still wanted? To be compared with those of another subject, or with labels.
[[nodiscard]] bool wants_outputs(const RunRecord& record, std::size_t subject);

// What a trial's outputs say, which is to be kept with it.
struct TakenOutputs {
  int subject = 0;
  std::span<const std::byte> block;     // into the trial's result; empty: nothing is to be kept
  std::vector<int> compared, accuracy;  // the subjects whose entries of record.outputs and record.accuracy are new
};

// Compares the outputs of `result`, which came with `trial` from `data`, in every pair that is complete by now, and
// shows how right they are; adds to record.outputs, record.accuracy and record.diagnostics. Writes nothing:
// keep_outputs does.
[[nodiscard]] Result<TakenOutputs> take_outputs(Store& store, RunRecord& record, std::size_t subject,
                                                const Samples& trial, const TrialResult& result, const DataSet& data);
[[nodiscard]] Result<Done> keep_outputs(Store& store, const RunRecord& record, const TakenOutputs& taken);

}  // namespace infermeter
