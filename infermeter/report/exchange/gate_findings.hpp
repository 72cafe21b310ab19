// What a gate's forms for other tools say of one verdict.
#pragma once

#include <string>

#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

[[nodiscard]] const PlacedText& source_of(const Gate& gate, const ExpectationVerdict& verdict);
// "latency_p99 <= 20 ms, resnet50@openvino: 21.2 ms [20.9, 21.4], 300 iterations in 3 processes: …; note: …"
[[nodiscard]] std::string finding_text(const RunRecord& record, const Gate& gate, const ExpectationVerdict& verdict);

}  // namespace infermeter
