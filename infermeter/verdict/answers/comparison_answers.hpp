// What a comparison says.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// Of every candidate, the worst news first: outputs that differ, then the answers, then how far to trust them.
// `verdict` has a comparison.
[[nodiscard]] std::vector<Answer> comparison_answers(const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
