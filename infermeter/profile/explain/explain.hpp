// Why is B slower or faster than A? Differences of common groups of operators that add up to the difference of the
// whole, with intervals, rolled up into as few clauses as explain it. Pure. docs/profile.md has the method and its
// evidence.
#pragma once

#include <span>

#include "infermeter/profile/explain/explanation.hpp"
#include "infermeter/profile/operators/operator_times.hpp"

namespace infermeter {

// Pairs are made of profile trials of the same process number. Needs kLeastPairs.
[[nodiscard]] Explanation explain(std::span<const ProfileTrial> a, std::span<const ProfileTrial> b,
                                  std::span<const Samples* const> timed_a, std::span<const Samples* const> timed_b);

}  // namespace infermeter
