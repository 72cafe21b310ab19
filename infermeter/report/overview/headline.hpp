// The first sentence of a report: what went wrong, else the answer to what was asked, over all subjects at once.
#pragma once

#include <vector>

#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/report/overview/effects.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/variants/figures.hpp"

namespace infermeter {

// The first of the worst ones: bad before warnings, these before what is undecided. Of no answers: an empty sentence.
[[nodiscard]] Headline worst_of(const std::vector<WordedAnswer>& answers);

// `answers`: the run's (report/run/answers.hpp). With one problem or one candidate its answer; else how many came out
// how: "openvino against onnxruntime: slower in 2 of 6 (mlp, batch size 1; mlp, batch size 4), undecided in 4".
[[nodiscard]] Headline headline_of_run(const RunRecord& record, const Verdict& verdict,
                                       const std::vector<Effect>& effects, const std::vector<WordedAnswer>& answers);

// What failed, with what was found; else what is undecided; else that all is met.
[[nodiscard]] Headline headline_of_gate(const RunRecord& record, const Gate& gate, const GateVerdict& verdict);

// Which variant to take: the fastest, and the fastest of those whose outputs and accuracy are kept.
[[nodiscard]] Headline headline_of_variants(const RunRecord& record, const VariantSet& set,
                                            const VariantsFigures& figures);

}  // namespace infermeter
