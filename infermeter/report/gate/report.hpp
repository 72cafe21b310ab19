// Reports of a gate: for people, for a pull request, for programs. Pure, like those of a run.
#pragma once

#include <string>

#include "infermeter/report/options.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// Formats that a gate has none of are rendered as the table.
[[nodiscard]] std::string render_gate(const RunRecord& record, const Gate& gate, const GateVerdict& verdict,
                                      Format format, const RenderOptions& options);

// JUnit XML, as the report plug-ins of continuous integration read it: a test case for each expectation and subject,
// whose class is the subject; inconclusive ones are skipped. Well-formed whatever the names hold.
[[nodiscard]] std::string render_junit(const RunRecord& record, const Gate& gate, const GateVerdict& verdict);

}  // namespace infermeter
