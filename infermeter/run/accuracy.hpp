// How right the subjects of a run are, where it is known what is right.
#pragma once

#include <cstddef>
#include <vector>

#include "infermeter/data/data_set.hpp"
#include "infermeter/run/outputs_at_hand.hpp"
#include "infermeter/run/run_context.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Holds the outputs of `subject`, which were made from `data`, against the labels or masks of `data`, and pairs
// them with those of its group's first subject, in whichever order the two come; adds to record.accuracy. Without
// labels it does nothing. Returns the subjects whose entries are new. Labels that were asked for (plan.data.labels) and
// do not fit the outputs are an error; the data's own that do not are a diagnostic.
[[nodiscard]] Result<std::vector<int>> take_accuracy(const OutputsAtHand& outputs, RunRecord& record,
                                                     std::size_t subject, const DataSet& data);

// What the embedding program knows of its own models (context.accuracy), likewise paired.
[[nodiscard]] Result<Done> keep_known_accuracy(Store& store, RunRecord& record, const RunContext& context);

}  // namespace infermeter
