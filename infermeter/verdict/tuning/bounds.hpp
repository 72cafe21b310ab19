// What the settings of a race must keep to: the constraints of its plan, compared with what was measured.
#pragma once

#include <span>
#include <vector>

#include "infermeter/verdict/gate/finding.hpp"
#include "infermeter/verdict/tuning/constraints.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// How the subject keeps a measured bound, by these trials of it, with intervals that look at them after 5, 8, 12 and 20
// processes (stats/comparison/rounds.hpp); of more, the first 20 count.
[[nodiscard]] Finding finding_in(const Expectation& bound, std::span<const Samples> trials,
                                 const SummaryOptions& options, bool ended);

// Does the pilot, one process, miss a measured bound by more than its own interval and by more than a tenth? How
// processes differ is not known yet.
[[nodiscard]] bool is_missed_by_pilot(const Expectation& bound, const Samples& pilot, const SummaryOptions& options);

}  // namespace infermeter
