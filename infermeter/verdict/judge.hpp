// judge(): what a run says. A pure function of its record.
#pragma once

#include "infermeter/verdict/run_record.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// The verdict points into `record`, which must outlive it and stay where it is.
[[nodiscard]] Verdict judge(const RunRecord& record);
Verdict judge(const RunRecord&& record) = delete;  // it would be gone

}  // namespace infermeter
