// The records that expectations are judged on, as one value.
#pragma once

#include <span>
#include <string>

#include "infermeter/verdict/answers/check.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

struct GateEvidence {
  const RunRecord& run;
  const Verdict& verdict;               // of the run
  const RunRecord* baseline = nullptr;  // null: none was named
  std::string baseline_name{};
  std::span<const RunRecord> earlier{};  // finished runs, newest first; those that are no repetition are passed over
};

}  // namespace infermeter
