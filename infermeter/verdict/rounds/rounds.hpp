// A run of automatic length (Automatic::processes): when it ends, and what that makes of its intervals. Pure functions
// of the record, so that a report that is made again says the same.
#pragma once

#include <optional>

#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// The two-sided level of intervals over processes: 5 %, or less where the run looked at them several times
// (stats/comparison/rounds.hpp). `share`: so many hypotheses share the 5 % equally.
[[nodiscard]] double level_of_rounds(const RunRecord& record, std::size_t share = 1);

// Rounds within a program are of one process: no number of them gives an interval, and the least will do.
[[nodiscard]] bool is_of_a_program(const RunRecord& record);

// Is there no time, or no round left, for another? Decided by clocks alone, never by what was measured.
[[nodiscard]] bool is_out_of_time(const RunRecord& record, int rounds);

// After how many rounds it may next end, as long as they take: what is predicted while it runs. Of a fixed length: all.
[[nodiscard]] int next_end(const RunRecord& record);

}  // namespace infermeter
