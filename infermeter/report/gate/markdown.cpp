// A gate for a pull request: the counts, a table with the reasons, what to mind.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "infermeter/report/forms/markdown_text.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/gate/renderers.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

const char* sign_of(const GateVerdict& verdict) {
  if (verdict.failed > 0) return "✗";
  return verdict.inconclusive > 0 ? "?" : "✓";
}

std::string row(const RunRecord& record, const Gate& gate, const ExpectationVerdict& one) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", outcome_text(one.outcome),
                     markdown_text(expectation_text(gate, one)), markdown_text(subject_text(record, one)),
                     markdown_text(value_text(gate, one)), markdown_text(n_text(one)),
                     markdown_text(printable(one.reason, 1000)));
}

std::string notes(const RunRecord& record, const GateVerdict& verdict) {
  std::vector<std::string> all;
  for (const ExpectationVerdict& one : verdict.verdicts) {
    for (const std::string& note : one.notes) {
      std::string text =
          fmt::format("- {}: {}\n", markdown_text(subject_text(record, one)), markdown_text(printable(note, 500)));
      if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
    }
  }
  std::string text = all.empty() ? "" : "\n**Caveats**\n\n";
  for (const std::string& note : all) text += note;
  return text;
}

}  // namespace

std::string render_gate_markdown(const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  std::string text =
      fmt::format("## {} {}: {}\n\n", sign_of(verdict), markdown_text(printable(gate.name, 200)), counts_text(verdict));
  text += markdown_text(run_line(record)) + "\n";
  const std::string baseline = baseline_text(verdict), machine = machine_line(record);
  if (!baseline.empty()) text += "\n" + markdown_text(baseline) + "\n";
  if (!record.finished) text += "\n⚠ Not finished: what there is so far is judged.\n";
  text += "\n| Verdict | Expectation | Subject | Value | n | Why |\n|---|---|---|---|---|---|\n";
  for (const ExpectationVerdict& one : verdict.verdicts) text += row(record, gate, one);
  text += notes(record, verdict);
  if (!machine.empty()) text += "\n" + markdown_text(machine) + "\n";
  return text;
}

}  // namespace infermeter
