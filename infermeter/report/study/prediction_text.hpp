// What counters foretold beside what was measured, in words.
#pragma once

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/verdict/gate/prediction.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// Of a prediction without a counter only what was measured.
// "optimised: fft_count 4021 against 2122 predicts 1.89x; measured 1.81x [1.74, 1.88], less than predicted"
[[nodiscard]] Sentence prediction_sentence(const RunRecord& record, const Prediction& prediction);

}  // namespace infermeter
