// What counters predict, beside what was measured.
#pragma once

#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/gate/prediction.hpp"

namespace infermeter {

// `place`: of the prediction in its part.
[[nodiscard]] Answer prediction_answer(const Prediction& prediction, std::size_t place);

}  // namespace infermeter
