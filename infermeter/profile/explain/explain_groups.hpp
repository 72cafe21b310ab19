// explain(), once it is known which groups of operators both sides have in common.
#pragma once

#include <span>
#include <vector>

#include "infermeter/profile/explain/explanation.hpp"
#include "infermeter/profile/operators/operator_times.hpp"

namespace infermeter {

// `groups`: of the operators of a.profile and b.profile, neither of which is nullptr.
[[nodiscard]] Explanation explain_groups(const SubjectOperatorTimes& a, const SubjectOperatorTimes& b,
                                         const std::vector<CommonGroup>& groups,
                                         std::span<const Samples* const> timed_a,
                                         std::span<const Samples* const> timed_b);

}  // namespace infermeter
