// What a report says first of subjects under load: is the load valid, and what came of it.
#pragma once

#include <vector>

#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// One per subject under load, of a race of the best alone, topic load: valid, or not_valid with the names of the rules
// as its reason; the value is the rate achieved, beside it are the median and p99 of the response time, as far as they
// hold.
[[nodiscard]] std::vector<Answer> load_answers(const Verdict& verdict);

}  // namespace infermeter
