// Verdict: what a run says. A pure function of its record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/stats/summary.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

struct SubjectVerdict {
  int subject = 0;
  Summary summary;
  // Against the first subject of its group; empty for that one itself.
  std::optional<int> baseline;
  std::vector<Ratio> ratios;  // latency_p50, throughput, memory_peak
  const SubjectOutputs* outputs = nullptr;  // into the record; null: not compared
};

struct Verdict {
  std::vector<SubjectVerdict> subjects;  // in the plan's order
  // The run's, the trials' (merged when they say the same) and what the comparison itself found (precision_differs, …).
  std::vector<Diagnostic> diagnostics;
  // The exit code that the run deserves: 0, 1 (outputs differ), 3, 4, 2, 130/143 (docs/cli.md).
  int exit_code = 0;
};

// `record` must outlive the verdict.
[[nodiscard]] Verdict judge(const RunRecord& record);

}  // namespace infermeter
