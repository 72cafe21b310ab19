// What a history says: its alarm, its last change, or that there is none.
#pragma once

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/history.hpp"

namespace infermeter {

// `index`: of the series in the report. Its place: the first run after the change.
[[nodiscard]] Answer history_answer(const History& history, int index);

}  // namespace infermeter
