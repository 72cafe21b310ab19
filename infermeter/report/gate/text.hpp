// What the reports of a gate say about one verdict, as short texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// Of a run that was interrupted.
inline constexpr std::string_view unfinished_text = "not finished: what there is so far is judged";

[[nodiscard]] FigureText figures_in(Dimension dimension);  // how an expectation's figures are written

[[nodiscard]] std::string outcome_text(Outcome outcome);  // "✓ pass", "✗ FAIL", "? inconclusive"

[[nodiscard]] std::string expectation_text(const Gate& gate, const ExpectationVerdict& verdict);  // as written
[[nodiscard]] std::string subject_text(const RunRecord& record, const ExpectationVerdict& verdict);
// "11.2 ms [11.0, 11.4]"; "–" where there is no value.
[[nodiscard]] std::string value_text(const Gate& gate, const ExpectationVerdict& verdict);
// "300 iterations", or nothing.
[[nodiscard]] std::string n_text(const ExpectationVerdict& verdict);
// "11.2 ms [11.0, 11.4], 300 iterations in 3 processes: the whole interval violates the bound"
[[nodiscard]] std::string why_text(const Gate& gate, const ExpectationVerdict& verdict);
// "5 passed, 1 FAILED, 2 inconclusive"
[[nodiscard]] std::string counts_text(const GateVerdict& verdict);
// Its answers (verdict/answers/gate_answers.hpp): "p99 <= 20 ms, resnet50@openvino: 11.2 ms [11.0, 11.4]: …".
[[nodiscard]] std::vector<WordedAnswer> worded_answers(const RunRecord& record, const Gate& gate,
                                                       const GateVerdict& verdict);
// "baseline 'nightly': run 20261121-114200-3f9a"; empty: none.
[[nodiscard]] std::string baseline_text(const GateVerdict& verdict);

}  // namespace infermeter
