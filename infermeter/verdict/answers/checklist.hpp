// Checklist: what a reader would go through before trusting a result, as values. Pure functions of records and
// verdicts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/history.hpp"
#include "infermeter/verdict/layers_record.hpp"
#include "infermeter/verdict/validation.hpp"

namespace infermeter {

struct Check {
  std::string name;                // "outputs agree"
  std::optional<Outcome> outcome;  // nullopt: not asked for, or nothing to check
  std::string detail;              // one sentence without an end; labels in it are text from outside
  bool is_reservation = false;     // it tells how far to trust the answer, and decides nothing
};

// Whether every trial ended well, outputs agree, subjects are alike in what is not compared, the question is decided,
// memory does not grow, accuracy is kept (within recommend()'s allowance), the machine was fit, and there are processes
// enough for intervals. `variants`: subjects differ on purpose in what they execute, and may fail: that is left out.
struct ChecklistOptions {
  bool variants = false;
};
[[nodiscard]] std::vector<Check> checklist(const RunRecord& record, const Verdict& verdict,
                                           const ChecklistOptions& options = {});

// One for each expectation, over all subjects that it was held against.
[[nodiscard]] std::vector<Check> checklist(const RunRecord& record, const Gate& gate, const GateVerdict& verdict);

// Outputs, the drop of accuracy, and whether the baseline repeats itself.
[[nodiscard]] std::vector<Check> checklist(const Validation& validation);

// Whether all tensors have partners, and whether the two part anywhere.
[[nodiscard]] std::vector<Check> checklist(const LayersRecord& record);

// Whether there are runs enough to look for changes, and whether a series is worse than it was.
[[nodiscard]] std::vector<Check> checklist(const std::vector<const History*>& histories);

// Of those that are no reservations: fail if any failed, inconclusive if any is that, pass if any passed; nullopt:
// nothing was checked.
[[nodiscard]] std::optional<Outcome> outcome_of(const std::vector<Check>& checks);

}  // namespace infermeter
