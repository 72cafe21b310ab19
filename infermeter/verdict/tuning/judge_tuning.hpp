// A race of settings, replayed from its record: who leads, who is out and why, what is to be measured next. A pure
// function of the record, so that a race that is taken up again goes on as it would have.
#pragma once

#include <optional>

#include "infermeter/verdict/tuning/tuning_verdict.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// nullopt: the plan has no race. `verdict` has its subjects.
[[nodiscard]] std::optional<TuningVerdict> judge_tuning(const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
