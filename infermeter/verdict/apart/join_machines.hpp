// One subject on several machines as one record, so that the machines can be compared.
#pragma once

#include <span>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// A machine is a node of a run over nodes, or else that of a run. For each subject that all of them have (by label,
// else by series; or the only one of each) a group with the subject on each machine, the first run's first machine
// being the baseline; nodes come by their names. Processes of one machine are samples of it: nothing is paired. Of side
// trials nothing is taken. An error where there are fewer than two machines, where two runs are of the same, or where
// no subject is on all of them.
[[nodiscard]] Result<RunRecord> join_machines(std::span<const RunRecord> runs, const Question& question);

}  // namespace infermeter
