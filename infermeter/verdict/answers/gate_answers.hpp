// What a gate says: its outcome, then its expectations, those that failed first.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/gate/gate.hpp"

namespace infermeter {

// Places: in verdict.verdicts.
[[nodiscard]] std::vector<Answer> gate_answers(const Gate& gate, const GateVerdict& verdict);
[[nodiscard]] Tone tone_of(Outcome outcome);

}  // namespace infermeter
