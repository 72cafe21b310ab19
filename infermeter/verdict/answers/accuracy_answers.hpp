// How right subjects are, by labels.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// One for every subject whose outputs were compared with labels.
[[nodiscard]] std::vector<Answer> accuracy_answers(const Verdict& verdict);

// What the interval of a change shows: more_accurate, less_accurate, undecided; nullopt: measured.
[[nodiscard]] AnswerKind kind_of_change(const std::optional<PairedProportions>& change);
[[nodiscard]] Tone tone_of_change(const std::optional<PairedProportions>& change);

}  // namespace infermeter
