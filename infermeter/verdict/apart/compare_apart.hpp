// The answer to a question about two runs that were not interleaved (join_runs.hpp), or about machines.
#pragma once

#include <vector>

#include "infermeter/verdict/comparison.hpp"

namespace infermeter {

// Each candidate against the same subject of the other run, or on the first machine: geometric means over processes
// with Welch's interval, all candidates together with the question's alpha (Bonferroni). What lies between the runs is
// in every process of one of them, so that an interval of processes does not know it. No direction is reported across
// machines, unless these are what is compared (compares_machines), and for other inputs.
[[nodiscard]] ComparisonVerdict compare_apart(const RunRecord& record);

// That the runs were not interleaved, and on which machines; which machines are compared.
[[nodiscard]] std::vector<Diagnostic> diagnostics_of_joined(const RunRecord& record);

}  // namespace infermeter
