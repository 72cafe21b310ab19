// A clause in words: which operators, in what they differ. No figures of time: reports have their own units.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "infermeter/profile/explain/explanation.hpp"
#include "infermeter/profile/explain/group_facts.hpp"

namespace infermeter {

// Facts that all of these groups share, in the order of Fact; those that could not be a cause, as the other side is the
// slower one, are not among them. `mean_s`: of the groups together, B - A.
[[nodiscard]] std::vector<Fact> shared_facts(std::span<const std::size_t> members, const std::vector<GroupFacts>& facts,
                                             double mean_s);

[[nodiscard]] Cause cause_of(std::span<const std::size_t> members, const std::vector<GroupFacts>& facts, double mean_s);

// "53 Conv: NCHWc -> plain layout; kernel NchwcConv -> Conv".
[[nodiscard]] std::string clause_words(std::span<const std::size_t> members, const std::vector<GroupDifference>& groups,
                                       const std::vector<GroupFacts>& facts, double mean_s);

}  // namespace infermeter
