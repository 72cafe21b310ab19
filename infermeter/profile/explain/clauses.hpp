// The roll-up: classes of groups that a clause could name, and the fewest of them that cover the difference.
#pragma once

#include <cstddef>
#include <vector>

#include "infermeter/profile/explain/group_facts.hpp"
#include "infermeter/profile/explain/paired_groups.hpp"

namespace infermeter {

// Sets of groups that share something recorded (kind, kernel size, shapes, a differing fact; a kind together with one
// of these), and each group alone. No two are the same set; members ascend. None depends on the times' differences.
[[nodiscard]] std::vector<std::vector<std::size_t>> classes_of(const std::vector<GroupDifference>& groups,
                                                               const std::vector<GroupFacts>& facts);

// Marks what is separable among `groups` and picks clauses.
[[nodiscard]] std::vector<Clause> find_clauses(PairedGroups& groups, const std::vector<GroupFacts>& facts);

}  // namespace infermeter
