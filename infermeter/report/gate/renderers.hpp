// The forms of a gate's report beside the table.
#pragma once

#include <string>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

[[nodiscard]] std::string render_gate_markdown(const RunRecord& record, const Gate& gate, const GateVerdict& verdict);
[[nodiscard]] std::string render_gate_json(const RunRecord& record, const Gate& gate, const GateVerdict& verdict);
void write_gate(JsonWriter& json, const RunRecord& record, const Gate& gate, const GateVerdict& verdict);

}  // namespace infermeter
