// judge(): what a run says. A pure function of its record.
#pragma once

#include "infermeter/verdict/run_record.hpp"
#include "infermeter/verdict/tuning/race_values.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

// The verdict points into `record`, which must outlive it and stay where it is.
[[nodiscard]] Verdict judge(const RunRecord& record);
Verdict judge(const RunRecord&& record) = delete;  // it would be gone

// The course of the plan's race so far, as in judge(record).tuning but for the Pareto front, and nothing else: a race
// asks after each block. `known` as in RaceTrials.
[[nodiscard]] TuningVerdict judge_race(const RunRecord& record, RaceValues& known);

}  // namespace infermeter
