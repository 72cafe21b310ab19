// Alternation between two levels that is too fast to be reported change by change.
#pragma once

#include <span>

namespace infermeter {

// PELT pays its penalty for every change, so that phases shorter than about a quarter of the series can cost more than
// they explain, and a cycle ends as one segment (Barrett et al. 2017, steady_state.hpp, find that too). It is reported
// by what is left of it as a whole: the running medians of 7 lie in two groups (Otsu 1979), more distinct than a single
// distribution can be cut into; each group holds a fifth of them or more; the series changes sides at least three times
// and stays, on average, for `shortest` values. `least`: levels that differ by less are one.
[[nodiscard]] bool alternates(std::span<const double> values, std::size_t shortest, double least);

}  // namespace infermeter
