// What a run says, in sentences, and its diagnostics as notices.
#pragma once

#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// Of verdict.answers, in their order.
[[nodiscard]] std::vector<WordedAnswer> worded_answers(const RunRecord& record, const Verdict& verdict);

// Without how fast subjects are that nothing is compared with: the tables have it.
[[nodiscard]] std::vector<WordedAnswer> without_levels(std::vector<WordedAnswer> answers);

// `of_a_program`: as Python says it, for a run of objects (plan/python_words.hpp).
[[nodiscard]] std::string remedy_of(DiagnosticId id, bool of_a_program);

[[nodiscard]] std::vector<Notice> notices(const std::vector<Diagnostic>& diagnostics);
[[nodiscard]] std::vector<Notice> notices(const Verdict& verdict);

}  // namespace infermeter
