// The decision of a paired comparison while pairs come in: looks with spending, or an always-valid test.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "infermeter/stats/comparison/coin_pairs.hpp"
#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

// What a comparison is asked. Differences and margin are of logarithms, candidate less baseline; positive: slower.
struct Design {
  double alpha = 0.05;
  double margin = 0;  // log scale: log1p of 1 %; 0: only the direction is asked for
  // Ascending; the last one is max_pairs.
  std::vector<int> looks = {8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40};
  // Spend 1/128 of alpha as soon as eight pairs may all have one sign (more of a smaller alpha). Not for one of several
  // candidates: Holm's step down wants levels that grow with alpha at every look.
  bool equal_signs_decide = true;
  bool until_resolved = false;  // the always-valid test after every pair from the third on; looks are not used
};
// Every 2 pairs from 8 to 16, every 4 to 40, every 8 beyond, and max_pairs itself.
[[nodiscard]] std::vector<int> usual_looks(int max_pairs);

enum class Direction { faster, slower, equivalent, unresolved };
[[nodiscard]] std::string_view to_string(Direction direction);
// Of an interval of a difference: slower or faster where it excludes 0, equivalent where it lies within ± margin.
[[nodiscard]] Direction direction_within(const std::optional<Interval>& difference, double margin);

struct Look {
  int pairs = 0;
  double level = 0;     // nominal two-sided level spent here; until_resolved: alpha
  double p = 1;         // exact signed-rank; until_resolved: min(1, 1 / E)
  double estimate = 0;  // Hodges–Lehmann
  // Repeated interval: covers at all looks together with 1 - alpha, its `confidence`. until_resolved: at the last look
  // only.
  std::optional<Interval> interval;
  Direction direction = Direction::unresolved;
};

// What the pairs so far say, freed of the order effect where the order is known. faster/slower: the interval excludes
// 0, which without ties and zeros is p <= level; equivalent: it lies within ± margin (and margin > 0) and does not
// exclude 0. A look that resolves is the last one: later pairs are not looked at, and what it said stays as pairs come
// in. `ended`: no more will come (budget); where nothing is resolved, a last look at all pairs spends what is left, in
// place of a planned look there. Fewer than six cannot resolve anything at 5 %: no interval.
[[nodiscard]] std::vector<Look> take_looks(const CoinPairs& pairs, const Design& design, bool ended);

// The looks at up to `pairs` pairs that are planned, or taken because no more will come, and the level of each: what a
// comparison spends. Not of designs that look until resolved.
struct PlannedLook {
  int pairs = 0;
  double level = 0;
};
// The design of the first round, if there are so many candidates.
[[nodiscard]] Design share_of(const Design& design, std::size_t candidates);
[[nodiscard]] std::vector<PlannedLook> planned_looks(const Design& design, int pairs, bool ended);

// Adjusted p values, in the order given: Holm, "A simple sequentially rejective multiple test procedure", Scand. J.
// Statist. 6 (1979) 65–70; Benjamini & Hochberg, J. R. Statist. Soc. B 57 (1995) 289–300.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

// Looks of several candidates against one baseline with the family-wise error held at design.alpha: each candidate is
// tested with spending for alpha / (candidates not yet resolved by direction); whoever excludes 0 leaves its share to
// the others, at that look and the earlier ones (Maurer & Bretz, Stat. Biopharm. Res. 5 (2013) 311–320; Ye et al.,
// Stat. Med. 32 (2013) 1112–1124). One candidate: take_looks. Candidates may have different numbers of pairs.
[[nodiscard]] std::vector<std::vector<Look>> take_looks_together(std::span<const CoinPairs> candidates,
                                                                 const Design& design, bool ended);

}  // namespace infermeter
