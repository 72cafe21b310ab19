// What a report of variants says: which are on the Pareto front, which are dominated, which failed.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/variants/figures.hpp"

namespace infermeter {

// Of the Pareto front alone.
[[nodiscard]] std::vector<Answer> front_answers(const VariantsFigures& figures);

// The front, and what failed. Never empty.
[[nodiscard]] std::vector<Answer> variants_answers(const VariantsFigures& figures);

}  // namespace infermeter
