// What a race says: the best, how much better it is than the default and the second, what equals it, what was left out.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

[[nodiscard]] std::vector<Answer> tuning_answers(const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
