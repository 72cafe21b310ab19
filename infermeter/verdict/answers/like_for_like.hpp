// What differs between a subject and its baseline besides what is being measured.
#pragma once

#include <vector>

#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// By what was executed, where the trials say it, and by the plan otherwise. Each is about the candidate.
[[nodiscard]] std::vector<Diagnostic> like_for_like(const RunRecord& record, int baseline, int candidate);

// Whether processes of one subject gave different outputs for the same input bytes.
[[nodiscard]] std::vector<Diagnostic> same_outputs_in_every_process(const RunRecord& record, int subject);

}  // namespace infermeter
