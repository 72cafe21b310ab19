// What a part of a study says: its run, and what counters predicted beside what was measured.
#pragma once

#include <vector>

#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/verdict/gate/study.hpp"

namespace infermeter {

// A part that is no comparison may have too few iterations for a median, by which a run answers: then it is the
// study's own metric that shows.
void leave_to_the_metric(const StudiedPart& part, std::vector<WordedAnswer>& answers);

// Its run's, without those that are left to the metric.
[[nodiscard]] std::vector<WordedAnswer> run_answers_of(const StudiedPart& part);

// "optimised: fft_count 4021 against 2122 predicts 1.89x; measured 1.81x [1.74, 1.88], less than predicted"; of a
// prediction without a counter only what was measured.
[[nodiscard]] std::vector<WordedAnswer> predictions_of(const StudiedPart& part);

}  // namespace infermeter
