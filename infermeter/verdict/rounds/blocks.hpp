// Blocks of a run: one trial of each subject, side by side. Those that other work disturbed are measured again.
#pragma once

#include <vector>

#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// The numbers (Samples::process) of the blocks whose trials enter no figure: the first Plan::repeat_disturbed of those
// in which a trial was disturbed (disturbance.hpp), as another block is measured in place of each. The noise record
// decides, never what was measured, and later blocks change nothing. None where nothing else is left. Ascending.
[[nodiscard]] std::vector<int> blocks_set_aside(const RunRecord& record);

// The trials that figures are made from, of all subjects, in their order; pointers into the record.
[[nodiscard]] std::vector<const Samples*> trials_that_count(const RunRecord& record);

// Those of one subject.
[[nodiscard]] std::vector<Samples> trials_of(const RunRecord& run, int subject);

// Whose ends decide the exit code: all trials, and those that look for a leak; pointers into the record.
[[nodiscard]] std::vector<const Samples*> trials_that_must_end_well(const RunRecord& record);

// Blocks that count in which every subject's trial has ended.
[[nodiscard]] int complete_blocks(const RunRecord& record);

// The same without those that are measured again, though nothing else is left: whether more are to be measured.
[[nodiscard]] int blocks_worth_keeping(const RunRecord& record);

// That blocks were set aside, and why.
[[nodiscard]] std::vector<Diagnostic> block_diagnostics(const RunRecord& record);

}  // namespace infermeter
