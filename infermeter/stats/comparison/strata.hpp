// Strata: values of one kind from several places.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace infermeter {

// Are the values of all places alike? The p of Kruskal & Wallis ("Use of ranks in one-criterion variance analysis",
// JASA 47 (1952) 583–621), corrected for ties, by the chi-squared distribution with one degree less than there are
// places. It is about places alone: adding a number to all values changes nothing, and neither does an outlier's size.
// Chosen over the F test, which one disturbed pair decides. Empty places do not count. nullopt: fewer than two places,
// no more values than places, or all values equal.
[[nodiscard]] std::optional<double> strata_differ_p(std::span<const std::vector<double>> strata);

}  // namespace infermeter
