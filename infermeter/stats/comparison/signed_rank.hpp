// Wilcoxon's signed-rank test and what follows from it: the Hodges–Lehmann estimate and its interval.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

inline constexpr int kMostExactSignedRanks = 200;

// Everything here takes finite values.
//
// Two-sided p of "the differences are symmetric about 0". Exact for up to 200 differences that are not 0, ties by mid
// ranks (the distribution given the ranks that are there: a sign flip each); beyond, the normal approximation with
// continuity and tie correction. Zeros are left out (Wilcoxon 1945). 1 if nothing is left.
[[nodiscard]] double signed_rank_p(std::span<const double> differences);

// The number of sign assignments to the ranks 1 … n whose positive ranks sum to w, as a share of 2^n, for w = 0 …
// n (n + 1) / 2. n in 0 … 200.
[[nodiscard]] std::vector<double> signed_rank_distribution(int n);

// How many of the smallest values of W, the sum of positive ranks, its lower tail holds: the largest k with P(W <= k -
// 1)
// <= tail.
[[nodiscard]] std::size_t signed_ranks_within(std::size_t n, double tail);

// The median of the Walsh averages (Hodges & Lehmann 1963). `values` is not empty.
[[nodiscard]] double hodges_lehmann(std::span<const double> values);

// The interval that the signed-rank test inverts to: between the k-th smallest and the k-th largest Walsh average, the
// largest k with P(W <= k - 1) <= (1 - confidence) / 2 (Hollander, Wolfe & Chicken, "Nonparametric Statistical
// Methods", 3rd ed. 2014, §3.3). nullopt: so few values cannot give such a confidence (n = 8: at most 254 / 256).
// Without ties and zeros it excludes 0 exactly when signed_rank_p <= 1 - confidence. Ties and zeros only make it wider
// than it need be: they are what any untied values nearby become, and the closed interval counts them for both sides.
[[nodiscard]] std::optional<Interval> hodges_lehmann_interval(std::span<const double> values, double confidence);

// Order statistics around the median, which need no symmetry. nullopt as above.
[[nodiscard]] std::optional<Interval> sign_interval(std::span<const double> values, double confidence);

// mean ± t s / √n. nullopt: fewer than two values.
[[nodiscard]] std::optional<Interval> t_interval(std::span<const double> values, double confidence);

}  // namespace infermeter
