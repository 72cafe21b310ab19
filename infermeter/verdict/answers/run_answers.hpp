// What a run says: who is faster than whom, whether their outputs agree, what failed, what leaks.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// What went wrong first; then what was compared, or how fast each subject is; then accuracy, profiles and leaks.
// `verdict` needs no answers of its own.
[[nodiscard]] std::vector<Answer> run_answers(const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
