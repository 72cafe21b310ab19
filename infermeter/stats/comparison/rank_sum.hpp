// The rank-sum test of two unpaired samples (Mann & Whitney, "On a test of whether one of two random variables is
// stochastically larger than the other", Ann. Math. Statist. 18 (1947) 50–60).
#pragma once

#include <span>

namespace infermeter {

// Two-sided p of "both samples are from one distribution", values independent. Exact for at most 400 pairs of a first
// and a second value without ties; else the normal approximation with continuity and tie correction. 1 if a sample is
// empty or all values are equal.
[[nodiscard]] double rank_sum_p(std::span<const double> first, std::span<const double> second);

}  // namespace infermeter
