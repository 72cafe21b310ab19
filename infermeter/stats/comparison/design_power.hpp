// What a design can show: simulated on normal differences, once per program and design.
#pragma once

#include <optional>
#include <span>

#include "infermeter/stats/comparison/sequential.hpp"

namespace infermeter {

// How much differences vary, as the Hodges–Lehmann interval sees it: its half-width at 95 %, as a multiple of that of
// as many values of standard deviation 1. For normal differences their standard deviation on average; where tails are
// heavy it is what the signed-rank test is up against, which the standard deviation is not. Of fewer than six values,
// and where all are equal, the standard deviation.
[[nodiscard]] double spread_of(std::span<const double> differences);

// The smallest effect to which the looks at up to `pairs` pairs (all of them, and a last one where the comparison has
// `ended`) give its direction with 80 % power, in units of the spread. nullopt: none can, as the pairs are too few.
[[nodiscard]] std::optional<double> detectable_effect(const Design& design, int pairs, bool ended);

// The least pairs in all that show an effect of so many spreads with 80 % power: at a look of the design that is yet to
// come after `pairs`, or in a design like it of as many pairs as it takes. nullopt: more than a million.
[[nodiscard]] std::optional<int> pairs_needed(const Design& design, int pairs, double effect);

}  // namespace infermeter
