// The records that expectations are judged on, and how an expectation may come out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "infermeter/verdict/judge.hpp"

namespace infermeter {

enum class Outcome { pass, fail, inconclusive };
[[nodiscard]] std::string_view to_string(Outcome outcome);

struct GateEvidence {
  const RunRecord& run;
  const Verdict& verdict;               // of the run
  const RunRecord* baseline = nullptr;  // null: none was named
  std::string baseline_name{};
  std::span<const RunRecord> earlier{};  // finished runs, newest first; those that are no repetition are passed over
};

}  // namespace infermeter
