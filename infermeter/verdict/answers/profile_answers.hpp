// Why a subject is slower or faster than its baseline, by profiles.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/profile_findings.hpp"

namespace infermeter {

// One for every explanation, in their order.
[[nodiscard]] std::vector<Answer> profile_answers(const ProfileFindings& findings);

// The share of the whole difference that the explanation's clauses are.
[[nodiscard]] double explained_share(const Explanation& explanation);

}  // namespace infermeter
