// Two stored runs as one record, so that what was measured in one can be compared with the same in the other.
#pragma once

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// For each subject that both runs have (by label, else by series; or the only one of each, whatever they are) a group
// of two: as it is in `before`, the baseline, and in `after`. Of side trials nothing is taken. `question` is what is
// asked of the two. An error where the runs have nothing in common, or are the same.
[[nodiscard]] Result<RunRecord> join_runs(const RunRecord& before, const RunRecord& after, const Question& question);

// Finished runs keep no outputs, but their digests. Equal ones are equal bytes; of others nobody knows how far apart
// they are. Two subjects of a record that was joined.
void compare_digests(RunRecord& joined, int baseline, int candidate);

}  // namespace infermeter
