// The answer for a whole group of subjects: which one is the fastest, and which takes the least memory.
#pragma once

#include <vector>

#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

struct GroupAnswer {
  int first = 0;  // the group's first subject
  // The one with the lowest median latency, then those that are not shown to be slower (interval of the ratio within
  // blocks). A single one needs an interval that leaves out 1 against each other one; of all groups of a run together,
  // any is wrong in at most 5 % of the cases (Bonferroni).
  std::vector<int> fastest;
  std::vector<int> least_memory;  // likewise, by peak memory; of the host's, and empty where a subject's is a device's
};

// One for each group of at least three subjects that ran to their end, took the same work (outputs that differ are
// none) and have both figures; in the groups' order. Two subjects are answered by their ratio.
[[nodiscard]] std::vector<GroupAnswer> answer_groups(const RunRecord& record, const Verdict& verdict);

}  // namespace infermeter
