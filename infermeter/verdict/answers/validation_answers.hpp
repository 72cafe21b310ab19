// What a validation says.
#pragma once

#include <string_view>
#include <vector>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

// Answer::metric of the topic accuracy where it is not accuracy itself.
inline constexpr std::string_view perplexity_metric = "perplexity_increase";

// Whether the candidate agrees, or is accurate enough where that decides.
[[nodiscard]] Answer agreement(const Validation& validation);

// Of outputs (places: of the outputs), accuracy, the baseline's repetition, odd values; what went wrong first.
[[nodiscard]] std::vector<Answer> validation_findings(const Validation& validation);

// The agreement, then the findings.
[[nodiscard]] std::vector<Answer> validation_answers(const Validation& validation);

}  // namespace infermeter
