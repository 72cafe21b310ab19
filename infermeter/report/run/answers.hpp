// What a run says, in sentences: who is faster than whom, whether their outputs agree, what failed, what to mind.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// One for every subject that was compared, then one for each that was held against labels, then one for each that
// failed.
[[nodiscard]] std::vector<Sentence> answers(const RunRecord& record, const Verdict& verdict);

// One for every subject that ran and that nothing is compared with: how fast it is.
[[nodiscard]] std::vector<Sentence> measured_answers(const RunRecord& record, const Verdict& verdict);

[[nodiscard]] std::vector<Notice> notices(const std::vector<Diagnostic>& diagnostics);
[[nodiscard]] std::vector<Notice> notices(const Verdict& verdict);

}  // namespace infermeter
