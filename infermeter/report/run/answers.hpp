// What a run says, in sentences: who is faster than whom, whether their outputs agree, what failed, what to mind.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/run/row.hpp"

namespace infermeter {

struct Sentence {
  Tone tone = Tone::plain;
  std::string text;       // without its sign
  std::string verdict{};  // of answers: their word, such as "faster", "cannot tell", "outputs differ"
};
// "✓", "✗", "⚠", "?", "·"
[[nodiscard]] const char* sign_of(Tone tone);

// One for every subject that was compared, then one for each that was held against labels, then one for each that
// failed.
[[nodiscard]] std::vector<Sentence> answers(const RunRecord& record, const Verdict& verdict);

// One for every subject that ran and that nothing is compared with: how fast it is.
[[nodiscard]] std::vector<Sentence> measured_answers(const RunRecord& record, const Verdict& verdict);

// Diagnostics that say the same of several subjects, once; errors first, infos last.
struct Notice {
  DiagnosticId id{};
  Severity severity = Severity::info;
  std::vector<std::string> messages;  // each with what it is about: "b: other programs used 41 % of a core"
  std::string remedy;
};
[[nodiscard]] std::vector<Notice> notices(const std::vector<Diagnostic>& diagnostics);
[[nodiscard]] std::vector<Notice> notices(const Verdict& verdict);

}  // namespace infermeter
