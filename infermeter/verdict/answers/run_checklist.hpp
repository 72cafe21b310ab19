// The checklist of a run.
#pragma once

#include <vector>

#include "infermeter/verdict/answers/check.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// Whether every trial ended well, outputs agree, subjects are alike in what is not compared, the question is decided,
// memory does not grow, accuracy is kept (within recommend()'s allowance), the machine was quiet, and there are
// processes enough for intervals. `variants`: subjects differ on purpose in what they execute, and may fail: that is
// left out.
struct ChecklistOptions {
  bool variants = false;
};
[[nodiscard]] std::vector<Check> checklist(const RunRecord& record, const Verdict& verdict,
                                           const ChecklistOptions& options = {});

}  // namespace infermeter
