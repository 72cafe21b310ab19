// Intervals of a run that ends when they are narrow enough: it looks at them several times, and all looks together keep
// their coverage.
#pragma once

#include <cstddef>
#include <optional>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

// A run of automatic length has at least so many rounds (one process of each subject), and at most so many.
inline constexpr int kLeastRounds = 3, kFirstLook = 5, kMostRounds = 20;

// May a run end here because of what its intervals say? After 5, 8, 12 and 20 rounds: three are alike too often by
// chance.
[[nodiscard]] bool is_round_look(int rounds);

// The two-sided nominal level of Student's intervals after `rounds` rounds, so that the intervals of all looks cover
// together with 1 - alpha, whatever ends the run (repeated confidence intervals: Jennison & Turnbull, J. R. Statist.
// Soc. B 51 (1989) 305–361; α ln(1 + (e − 1) t) is spent: Lan & DeMets, Biometrika 70 (1983) 659–663). `ended`: no
// round comes after it for a reason that is not the data, such as the time it takes: what is left of alpha is spent
// here. Normal quantiles become Student's by their levels. Fewer than two rounds: alpha, as nothing was looked at.
[[nodiscard]] double round_level(int rounds, double alpha, bool ended);

// About how many replications make Student's interval of `n` at least 2 as narrow as `share` of what it is now: with
// few of them its quantile shrinks as well. Above n; nullopt: more than `most`.
[[nodiscard]] std::optional<int> replications_for(double share, int n, double confidence, int most);

// About how many more rounds until an interval on logarithms, of half this width after `rounds` rounds, reaches no
// further than `target` > 0, as they vary now. nullopt: more than a thousand, or it does so already.
[[nodiscard]] std::optional<int> more_rounds(const Interval& interval, int rounds, double level, double target);

}  // namespace infermeter
