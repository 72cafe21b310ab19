// The outputs of a run: each subject's first ones are kept until they have been compared with those of its group's
// first subject, in whichever order the two come.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infermeter/data/data_set.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

// Are this subject's outputs still wanted? To be compared, or to be held against labels.
[[nodiscard]] bool wants_outputs(const RunRecord& record, std::size_t subject);

// What a trial's outputs say, which is to be kept with it.
struct TakenOutputs {
  int subject = 0;
  std::span<const std::byte> block;     // into the trial's result; empty: nothing is to be kept
  std::vector<int> compared, accuracy;  // the subjects whose entries of record.outputs and record.accuracy are new
};

// Compares the outputs of `result`, which came with `trial` from `data`, in every pair that is complete by now, and
// tells how right they are; adds to record.outputs, record.accuracy and record.diagnostics. Writes nothing:
// keep_outputs does.
[[nodiscard]] Result<TakenOutputs> take_outputs(Store& store, RunRecord& record, std::size_t subject,
                                                const Samples& trial, const TrialResult& result, const DataSet& data);
[[nodiscard]] Result<Done> keep_outputs(Store& store, const RunRecord& record, const TakenOutputs& taken);

// The outputs that there are by now: in the store, and those of the trial that has just ended.
class OutputsAtHand {
 public:
  // All of them outlive this.
  OutputsAtHand(Store& store, const RunRecord& record, std::size_t subject, std::span<const std::byte> block)
      : store_(store), record_(record), subject_(subject), block_(block) {}
  // Per data item; empty: none.
  [[nodiscard]] Result<std::vector<ItemValues>> of(std::size_t subject) const;

 private:
  Store& store_;
  const RunRecord& record_;
  std::size_t subject_;
  std::span<const std::byte> block_;
};

// The trial that they came from: the subject's first one that ended well, pilots before others; null: none did.
[[nodiscard]] const Samples* outputs_trial(const RunRecord& record, std::size_t subject);

}  // namespace infermeter
